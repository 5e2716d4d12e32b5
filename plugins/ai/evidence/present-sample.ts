// The sample of the metrics that tells a diagnosis how things are now: without anybody who watches the metrics, the
// newest one can be of any age.
import type { Host } from '#core';
import type { Sample } from '../../metrics/contract.ts';

const MAX_AGE_MS = 60_000;

export async function presentSample(host: Host): Promise<Sample | undefined> {
  return host.find('metrics.sampler')?.sample(MAX_AGE_MS);
}
