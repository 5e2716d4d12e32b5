// The day by which files are named, for tests that know their names beforehand.
import { until } from './until.ts';

/** What is left of a day at least, so that none ends while a test looks at files of its day. */
const REST_MS = 45_000;

/** Resolves when the day does not end soon. */
export async function untilDayIsLong(): Promise<void> {
  await until(() => new Date().getDate() === new Date(Date.now() + REST_MS).getDate(), { what: 'the next day' });
}
