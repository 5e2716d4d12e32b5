// What a service needs while a condition holds.
import { testSignalSource } from '../../contracts/signal-source.ts';
import { contributionOf } from '../../support/templates.ts';

const block = (processName: string, more: object = {}) => ({ process_name: processName, enabled: true, ...more });

testSignalSource(
  () => contributionOf('signal-conditional-startup-map', 'dependency.signal'),
  [
    {
      name: 'always',
      config: { zilean: block('Z', { enabled: false }), postgres: block('PG', { enabled: false }) },
      finds: ['PG -> Z'],
    },
    { name: 'while the other is in use', config: { tautulli: block('T'), plex: block('P') }, finds: ['P -> T'] },
    { name: 'while it is not', config: { tautulli: block('T'), plex: block('P', { enabled: false }) }, finds: [] },
    {
      name: 'a database for those that use it',
      config: {
        sonarr: {
          instances: {
            A: block('S', { postgres_enabled: true }),
            B: block('S2'),
            C: block('S3', { postgres_enabled: true, enabled: false }),
          },
        },
        bazarr: block('Z', { postgres_enabled: 'yes' }),
        postgres: block('PG'),
      },
      finds: ['PG -> S', 'S -> Z', 'S2 -> Z', 'S3 -> Z'],
    },
    {
      name: 'media servers that are named',
      config: {
        seerr: { instances: { A: block('One', { core_service: 'plex' }), B: block('Two') } },
        plex: block('P'),
        jellyfin: block('J'),
        emby: block('E', { enabled: false }),
      },
      finds: ['P -> One', 'P -> Two', 'J -> Two'],
    },
    {
      name: 'instances that ask for it',
      config: {
        neutarr: { instances: { A: block('N') } },
        sonarr: { instances: { A: block('S', { use_neutarr: true }), B: block('S2') } },
        radarr: { instances: { A: block('R', { use_neutarr: true, enabled: false }) } },
      },
      finds: ['S -> N'],
    },
    {
      name: 'providers of a mount',
      config: {
        rclone: {
          instances: { A: block('R', { zurg_enabled: true, decypharr_enabled: true, core_service: 'infinidysk' }) },
        },
        zurg: { instances: { A: block('Z') } },
        decypharr: block('D'),
        infinidysk: block('I'),
      },
      finds: ['Z -> R', 'D -> R', 'I -> R'],
    },
  ],
);
