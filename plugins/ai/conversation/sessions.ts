// Sessions for further questions: the evidence of a diagnosis and what was said about it, kept in memory alone.
import { randomBytes } from 'node:crypto';
import { Problem } from '#core';
import { WorkQueue } from '#kit/work-queue';
import type { PromptEvidence, PromptTurn } from '../prompt/messages.ts';

const MAX_SESSIONS = 50;
const MAX_TURNS = 8;
const MAX_CHARS = 2 * 1024 * 1024;
const MAX_WAITING = 2;
const LIFETIME_MS = 3_600_000;

interface Session {
  readonly evidence: PromptEvidence;
  readonly bundleChars: number;
  /** The user who made the session; null when authentication is off. */
  readonly owner: string | null;
  readonly queue: WorkQueue;
  turns: readonly PromptTurn[];
  usedMs: number;
}

export class Sessions {
  readonly #sessions = new Map<string, Session>();
  readonly #nowMs: () => number;

  /** `nowMs` is a clock that is never set back. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Gives the id. When there are 50 sessions, the least recently used one is removed. */
  create(evidence: PromptEvidence, owner: string | null, turn: PromptTurn): string {
    this.sweep();
    const [oldest] = [...this.#sessions].sort(([, a], [, b]) => a.usedMs - b.usedMs);
    if (oldest !== undefined && this.#sessions.size >= MAX_SESSIONS) this.#sessions.delete(oldest[0]);
    const id = randomBytes(16).toString('hex');
    const session: Session = {
      evidence,
      bundleChars: JSON.stringify(evidence.bundle).length,
      owner,
      queue: new WorkQueue({ concurrency: 1 }),
      turns: [],
      usedMs: this.#nowMs(),
    };
    addTurn(session, turn);
    this.#sessions.set(id, session);
    return id;
  }

  /**
   * Calls `ask` for the questions of a session one after the other, and adds the turn that it gives. A failure changes
   * nothing. Throws a Problem 404 for a session that is gone or belongs to another user, and 409 when two questions
   * wait.
   */
  continue<Answer extends { readonly turn: PromptTurn }>(
    id: string,
    owner: string | null,
    ask: (evidence: PromptEvidence, turns: readonly PromptTurn[]) => Promise<Answer>,
    signal: AbortSignal,
  ): Promise<Answer> {
    this.sweep();
    const session = this.#sessions.get(id.trim());
    if (session === undefined || session.owner !== owner)
      throw new Problem(404, 'This analysis is no longer kept; run a new one and ask then');
    if (session.queue.size >= MAX_WAITING)
      throw new Problem(409, 'Other questions wait for an answer of this analysis; ask again when they have it');
    const run = async (): Promise<Answer> => {
      session.usedMs = this.#nowMs();
      const answer = await ask(session.evidence, session.turns);
      addTurn(session, answer.turn);
      session.usedMs = this.#nowMs();
      return answer;
    };
    return session.queue.add(run, { signal });
  }

  /** Removes sessions that were not used for an hour. */
  sweep(): void {
    const from = this.#nowMs() - LIFETIME_MS;
    for (const [id, { usedMs, queue }] of this.#sessions)
      if (usedMs < from && queue.pending === 0) this.#sessions.delete(id);
  }
}

/** Adds a turn, and removes the oldest ones beyond the limits. */
function addTurn(session: Session, turn: PromptTurn): void {
  const turns = [...session.turns, turn].slice(-MAX_TURNS);
  const chars = () => turns.reduce((sum, { question, answer }) => sum + question.length + answer.length, 0);
  while (turns.length > 1 && session.bundleChars + chars() > MAX_CHARS) turns.shift();
  const leftChars = Math.max(0, MAX_CHARS - session.bundleChars - turn.question.length);
  session.turns = turns.map(({ question, answer }) => ({ question, answer: answer.slice(0, leftChars) }));
}
