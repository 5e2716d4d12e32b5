// The evidence of services themselves: what their own files tell to those collectors that plugins contribute.
import type { Host } from '#core';
import type { Evidence, EvidenceRequest, EvidenceTarget } from '../contract.ts';

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
  { window, signal }: EvidenceRequest,
  { processName, configKey }: EvidenceTarget,
): Promise<Record<string, unknown> | undefined> {
  const service = host.use('config.store').findBlock(processName);
  const collectors = [...host.contributions('ai.native-collector').values()];
  const collector = collectors.find(candidate => candidate.configKey === configKey);
  if (service === undefined || collector === undefined) return undefined;
  try {
    return { collector: configKey, available: true, ...(await collector.collect({ service, window, signal })) };
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
