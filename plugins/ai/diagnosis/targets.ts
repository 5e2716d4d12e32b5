// Chooses the processes that a diagnosis is about, and the ones whose logs it reads.
import type { Host, NamedBlock } from '#core';
import { unknownProcess } from '#kit/unknown-process';
import type {} from '../../process/contract.ts';
import type { EvidenceTarget } from '../contract.ts';

const MAX_LOG_TARGETS = 12;
/** A question with one of these words also asks about services that are well. */
const GENERAL = ['performance', 'running', 'health', 'optimiz', 'change'];

/** Throws a Problem 404 when there is no such process. */
export function serviceTarget(host: Host, processName: string): EvidenceTarget {
  const block = host.use('config.store').findBlock(processName);
  if (block === undefined) throw unknownProcess(processName);
  return targetOf(host, block);
}

/** In the order of the configuration, without the host itself. */
export function stackTargets(host: Host): EvidenceTarget[] {
  const blocks = host.use('config.store').blocks();
  return blocks.filter(({ isHost }) => !isHost).map(block => targetOf(host, block));
}

/**
 * The targets that the question names, then those that are not well, and for general questions all others that are
 * enabled.
 */
export function logTargets(targets: readonly EvidenceTarget[], question: string): EvidenceTarget[] {
  const asked = ` ${wordsOf(question)} `;
  const isNamed = ({ processName, configKey, path }: EvidenceTarget): boolean =>
    [processName, configKey, path.at(-1) ?? ''].some(name => name !== '' && asked.includes(` ${wordsOf(name)} `));
  const enabled = targets.filter(target => target.enabled);
  const isGeneral = GENERAL.some(word => question.toLowerCase().includes(word));
  const ordered = [
    ...targets.filter(isNamed),
    ...enabled.filter(({ healthy }) => healthy === false),
    ...enabled.filter(({ status }) => status === 'stopped'),
    ...enabled.filter(({ status }) => ['', 'unknown', 'none'].includes(status)),
    ...(isGeneral ? enabled : []),
  ];
  return [...new Set(ordered)].slice(0, MAX_LOG_TARGETS);
}

function targetOf(host: Host, { processName, path, configKey, block }: NamedBlock): EvidenceTarget {
  const supervisor = host.find('process.supervisor');
  const snapshot = supervisor?.get(processName);
  return {
    processName,
    path,
    configKey,
    instanceName: path.includes('instances') ? (path.at(-1) ?? null) : null,
    enabled: snapshot?.enabled ?? block.enabled === true,
    status: snapshot?.status ?? 'unknown',
    healthy: supervisor?.health(processName).healthy ?? null,
  };
}

/** The words of a text in lower case, with one blank between them. */
function wordsOf(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');
}
