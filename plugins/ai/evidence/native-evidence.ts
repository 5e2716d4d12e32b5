// Evidence from the services' own files, read by the collectors that plugins contribute.
import type { Host } from '#core';
import type { Evidence, EvidenceRequest, EvidenceTarget } from '../contract.ts';
import { collectorOf, matchedLines } from '../logs/matched-lines.ts';

export async function collectNative(host: Host, request: EvidenceRequest): Promise<Evidence | undefined> {
  const { scope, targets } = request;
  const [only] = targets;
  if (scope === 'service') {
    if (only === undefined) return undefined;
    const collected = await collectOf(host, request, only);
    return {
      members: { native_diagnostics: collected ?? unsupported(only) },
      coverage: { native_collector: collected?.available === true },
    };
  }
  const enabled = targets.filter(target => target.enabled);
  const all = await Promise.all(
    enabled.map(async target => [target.processName, await collectOf(host, request, target)] as const),
  );
  const supported = all.filter(([, collected]) => collected !== undefined);
  return {
    members: { native_diagnostics: Object.fromEntries(supported) },
    coverage: { native_collectors: supported.filter(([, collected]) => collected?.available === true).length },
  };
}

/** undefined for a service without a collector. */
async function collectOf(
  host: Host,
  request: EvidenceRequest,
  target: EvidenceTarget,
): Promise<Record<string, unknown> | undefined> {
  const { window, signal } = request;
  const { processName, configKey } = target;
  const service = host.use('config.store').findBlock(processName);
  const collector = collectorOf(host, target);
  if (service === undefined || collector === undefined) return undefined;
  try {
    const lines = matchedLines(request, target);
    return { collector: configKey, available: true, ...(await collector.collect({ service, window, lines, signal })) };
  } catch (error) {
    return { collector: configKey, available: false, reason: (error as Error).message };
  }
}

function unsupported({ configKey }: EvidenceTarget): Record<string, unknown> {
  return {
    collector: configKey || 'generic',
    available: false,
    reason: 'Nothing is known of files of this service that tell of it.',
  };
}
