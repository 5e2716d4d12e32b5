// Waits until the date will not change soon, for tests that know the names of daily files beforehand.
import { until } from './until.ts';

/** How much of the day must be left, so that it does not end while a test looks at files of the day. */
const REST_MS = 45_000;

/** Resolves when the day lasts for at least that long. */
export async function untilDayIsLong(): Promise<void> {
  await until(() => new Date().getDate() === new Date(Date.now() + REST_MS).getDate(), { what: 'the next day' });
}
