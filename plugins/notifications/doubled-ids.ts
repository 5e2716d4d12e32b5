// Tells of destinations that have the same id, as only a change of the file by hand makes them.
import type { Host } from '#core';
import { type DestinationSettings, SECTION_PATH } from './settings.ts';

/** The ids that more than one of the destinations has. */
export function doubledIds(destinations: readonly Pick<DestinationSettings, 'id'>[]): string[] {
  const ids = destinations.map(({ id }) => id);
  return [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
}

/** Warns of each once, and tells `stackwarden check`. */
export function tellDoubledIds(host: Host, destinations: () => readonly DestinationSettings[]): void {
  let told: readonly string[] = [];
  const found = () =>
    doubledIds(destinations()).map(
      id =>
        `${SECTION_PATH.join('.')}.destinations: several have the id '${id}', so that the first gets what is meant for the others; give each its own`,
    );
  const look = (): void => {
    const sentences = found();
    for (const sentence of sentences) if (!told.includes(sentence)) host.log.warn(sentence);
    told = sentences;
  };
  host.tap('host.ready', look);
  host.tap('config.changed', look);
  host.tap('config.review', ({ problems }) => void problems.push(...found()));
}
