// Runs diagnoses: first everything that can be refused is checked, then the evidence is gathered, the provider is
// asked, and the session is kept.
import type { z } from 'zod';
import { type ContributionList, type Host, Problem } from '#core';
import { turnWithTime } from '#kit/turns';
import { WorkQueue } from '#kit/work-queue';
import type { ChatMessage, EvidenceSource } from '../contract.ts';
import { buildBundle } from '../diagnosis/bundle.ts';
import type { ChangeLedger } from '../ledger/change-ledger.ts';
import { compacted } from '../prompt/compaction.ts';
import { finalAnswer } from '../prompt/final-answer.ts';
import { firstMessages, furtherMessages, type PromptEvidence, type PromptTurn } from '../prompt/messages.ts';
import type { ChatOutcome, ProviderCalls, ReadyCall } from '../providers/provider-calls.ts';
import { cleanText } from '../redaction/clean-text.ts';
import { knownSecrets } from '../redaction/secret-text.ts';
import { secretsOf } from '../redaction/secret-value.ts';
import type { SettingsStore } from '../settings/settings-store.ts';
import type { DiagnosisRequest, diagnosisAnswer, followUpAnswer } from './diagnose-wire.ts';
import { Sessions } from './sessions.ts';

const MAX_BUILDS = 2;
const MAX_WAITING = 8;
const RETRY_AFTER_S = 10;
const MAX_QUESTION_LENGTH = 8_000;
const OUTPUT_TOKENS = 4_096;
const SWEEP_MS = 300_000;
/** The question of a first turn without a question and without a preset. */
const NO_QUESTION = 'General analysis';

export interface DiagnosisParts {
  readonly store: SettingsStore;
  readonly calls: ProviderCalls;
  readonly ledger: ChangeLedger;
  readonly sources: ContributionList<EvidenceSource>;
}

interface Caller {
  /** null when authentication is off. */
  readonly user: string | null;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

export class Diagnoses {
  readonly #host: Host;
  readonly #parts: DiagnosisParts;
  readonly #builds = new WorkQueue({ concurrency: MAX_BUILDS });
  readonly #sessions = new Sessions();

  constructor(host: Host, parts: DiagnosisParts) {
    this.#host = host;
    this.#parts = parts;
    host.every(SWEEP_MS, () => this.#sessions.sweep());
  }

  /** Rejects with a Problem 400, 404, 502, 503 or 504. The answer itself names sources of evidence that have failed. */
  async run(request: DiagnosisRequest, { user, signal }: Caller): Promise<z.input<typeof diagnosisAnswer>> {
    const { store, calls } = this.#parts;
    const { enabled } = store.read();
    const { scope, question, preset, processName } = request;
    checkQuestion(question);
    if (scope === 'service' && processName === '') throw new Problem(400, 'process_name is blank; name a service');
    const record = store.callRecord();
    const ready = enabled && !request.isDryRun ? calls.readyForChat(record) : undefined;
    const bundle = await this.#build(request, signal);
    const answer = { enabled, provider: record.provider, model: record.model, bundle };
    if (ready === undefined) return { ...answer, analysis: '', usage: {}, dry_run: true, session_id: '' };

    const budgetChars = ready.descriptor.promptBudgetChars;
    const evidence = { scope, bundle: compacted({ scope, bundle, question, budgetChars }) };
    await turnWithTime();
    const { text, usage } = await this.#ask(ready, firstMessages(evidence), signal);
    const analysis = finalAnswer(evidence, question, text);
    const turn = { question: await this.#redacted(question || preset || NO_QUESTION), answer: analysis };
    const id = this.#sessions.create(evidence, user, turn);
    return { ...answer, analysis, usage, dry_run: false, session_id: id };
  }

  /** Asks further about the evidence of a session, with the present settings. No new evidence is gathered. */
  async askFurther(
    { session_id: id, question: given }: { readonly session_id: string; readonly question: string },
    { user, signal }: Caller,
  ): Promise<z.input<typeof followUpAnswer>> {
    const { store, calls } = this.#parts;
    checkQuestion(given.trim());
    const question = await this.#redacted(given.trim());
    if (question === '') throw new Problem(400, 'question is blank; ask one');
    const ask = async (evidence: PromptEvidence, turns: readonly PromptTurn[]) => {
      if (!store.read().enabled) throw new Problem(400, 'The assistant is switched off; enable it in its settings');
      const record = store.callRecord();
      const ready = calls.readyForChat(record);
      const { text, usage } = await this.#ask(ready, furtherMessages(evidence, { turns, question }), signal);
      const turn = { question, answer: finalAnswer(evidence, question, text) };
      return { turn, usage, provider: record.provider, model: record.model };
    };
    const { turn, ...answer } = await this.#sessions.continue(id, user, ask, signal);
    return { ...answer, analysis: turn.answer, session_id: id.trim() };
  }

  #build(request: DiagnosisRequest, signal: AbortSignal): Promise<Record<string, unknown>> {
    if (this.#builds.size >= MAX_WAITING)
      throw new Problem(503, 'Too many analyses wait for their evidence; try again in a moment', {
        headers: { 'Retry-After': String(RETRY_AFTER_S) },
      });
    const { ledger, sources } = this.#parts;
    const build = () => buildBundle(this.#host, { ledger, sources }, { ...request, signal });
    return this.#builds.add(build, { signal });
  }

  /** Sends the messages to the provider after masking secrets in them once more. */
  async #ask(ready: ReadyCall, messages: readonly ChatMessage[], signal: AbortSignal): Promise<ChatOutcome> {
    const clean: ChatMessage[] = [];
    for (const { role, content } of messages) {
      await turnWithTime();
      clean.push({ role, content: await this.#redacted(content) });
    }
    return this.#parts.calls.chat(ready, { messages: clean, maxOutputTokens: OUTPUT_TOKENS }, signal);
  }

  /** The text without the secrets of the present configuration. */
  #redacted(text: string): Promise<string> {
    return cleanText(text, knownSecrets(secretsOf(this.#host.use('config.store').root())));
  }
}

function checkQuestion(question: string): void {
  if (question.length > MAX_QUESTION_LENGTH)
    throw new Problem(400, `question is longer than ${MAX_QUESTION_LENGTH} characters; shorten it`);
}
