// Programs that are published as releases of repositories on GitHub.
import { definePlugin } from '#core';
import type {} from '../archives/contract.ts';
import type {} from '../installs/contract.ts';
import { GithubReleases } from './github-releases.ts';
import { githubSection, settingsIn } from './settings.ts';

export default definePlugin({
  name: 'install-github-release',
  host: '^1',
  needs: ['archives', 'installs'],

  setup(host) {
    host.contribute('config.schema', 'github', { path: ['dumb'], schema: githubSection });
    const settings = () => settingsIn(host.use('config.store').get('dumb'));
    host.contribute('install.source', 'github-release', new GithubReleases(host, settings));
  },
});
