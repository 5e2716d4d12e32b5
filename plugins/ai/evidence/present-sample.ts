// The sample of the metrics that tells a diagnosis how things are now: without anybody who watches the metrics, the
// newest one can be of any age.
import type { Host } from '#core';
import type { Sample } from '../../metrics/contract.ts';

const MAX_AGE_MS = 60_000;

/** undefined where none can be taken, so that a diagnosis has what else there is. */
export async function presentSample(host: Host): Promise<Sample | undefined> {
  try {
    return await host.find('metrics.sampler')?.sample(MAX_AGE_MS);
  } catch (error) {
    host.log.warn('a diagnosis is made without a sample of the metrics', error);
    return undefined;
  }
}
