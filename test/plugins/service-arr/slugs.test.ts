// Folders and categories are named after instances of managers, each with its own name in any alphabet.
import t from 'tap';
import type { NamedBlock } from '../../../core/contract/config.ts';
import { Applications } from '../../../plugins/service-arr/applications.ts';

const instance = (configKey: string, key: string): NamedBlock => ({
  processName: `${configKey} ${key}`,
  path: [configKey, 'instances', key],
  configKey,
  key,
  isHost: false,
  block: {},
});

t.test('each instance has a slug of its own', async t => {
  const slugsOf = (blocks: readonly NamedBlock[]) => {
    const host = { use: () => ({ blocks: () => blocks }) };
    const applications = new Applications(host as never, { handedOver: {} as never, family: new Map() });
    return blocks.map(block => applications.slugOf(block));
  };
  t.same(slugsOf([instance('radarr', 'Default'), instance('sonarr', 'Default'), instance('radarr', 'Four K')]), [
    'radarr-default',
    'sonarr-default',
    'radarr-four-k',
  ]);
  const films = [instance('radarr', 'Фильмы'), instance('radarr', 'Мультфильмы'), instance('radarr', '电影')];
  const slugs = slugsOf([...films, instance('sonarr', 'Сериалы')]);
  t.match(slugs, ['radarr-', /^radarr-[0-9a-f]{12}$/, /^radarr-[0-9a-f]{12}$/, 'sonarr-']);
  t.equal(new Set(slugs).size, 4);
  t.match(slugsOf([instance('radarr', 'My-TV'), instance('radarr', 'My TV')]), [
    'radarr-my-tv',
    /^radarr-my-tv-[0-9a-f]{12}$/,
  ]);
});
