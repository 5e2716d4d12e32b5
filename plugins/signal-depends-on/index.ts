// Signal: a service needs those that its block names in `depends_on`, without any condition.
import { definePlugin } from '#core';

export default definePlugin({
  name: 'signal-depends-on',
  host: '^1',

  setup(host) {
    host.contribute('dependency.signal', 'depends_on', {
      signal: 'depends_on',
      classification: 'hard',
      strength: 'hard_runtime',
      description: 'Services that depends_on names',
      isHiddenUnused: true,
      find: snapshot => ({
        relations: snapshot.entries.flatMap(entry =>
          namesIn(entry.config.depends_on)
            .flatMap(name => snapshot.resolve(name, entry))
            .map(({ processName }) => ({ dependency: processName, dependent: entry.processName })),
        ),
      }),
    });
  },
});

/** A name, a list of names and objects, or an object whose keys are names. */
function namesIn(key: unknown): string[] {
  if (typeof key === 'string') return [key];
  if (Array.isArray(key))
    return key
      .map(entry => (typeof entry === 'string' ? entry : (entry as { process_name?: unknown } | null)?.process_name))
      .filter(name => typeof name === 'string');
  return typeof key === 'object' && key !== null ? Object.keys(key) : [];
}
