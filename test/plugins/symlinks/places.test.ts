// Places of the product, however it is installed, that no request and no manifest may name.
import path from 'node:path';
import t from 'tap';
import { installDirs } from '../../../plugins/symlinks/places/install-dirs.ts';
import { checkedPath, placesOf } from '../../../plugins/symlinks/places/path-rules.ts';
import { found, linkDir } from '../../support/links.ts';
import { repairInput, taskResult } from '../../support/symlink-task.ts';

const INSTALLED = {
  clone: { node_modules: { ws: {} }, '.builds': { one: { core: {} } }, '.stackwarden': {} },
  'clone-of-links': {},
  project: { node_modules: { stackwarden: { core: {} }, ws: {} }, library: {} },
  image: { stackwarden: { core: {}, node_modules: {} } },
  bare: { core: {} },
};

t.test('places of the product are refused', async t => {
  const dir = linkDir(t, INSTALLED);
  const refuses = (program: string, place: string, configDir = 'config'): boolean => {
    const places = placesOf(path.join(dir, configDir), installDirs(path.join(dir, program)));
    try {
      return checkedPath(path.join(dir, place), 'The root', places) === '';
    } catch {
      return true;
    }
  };
  for (const place of ['clone', 'clone/dist', 'clone/.builds/one/core', 'clone/node_modules/ws', 'clone/new'])
    t.ok(refuses('clone/.builds/one/', place), `a build: ${place}`);
  t.notOk(refuses('clone/.builds/one/', 'clone-of-links'));
  for (const place of ['project/node_modules/stackwarden/core', 'project/node_modules/ws'])
    t.ok(refuses('project/node_modules/stackwarden', place), `a package of another project: ${place}`);
  t.notOk(refuses('project/node_modules/stackwarden', 'project/library'));
  t.ok(refuses('image/stackwarden', 'image/stackwarden/node_modules'));
  t.notOk(refuses('image/stackwarden', 'image'));
  t.ok(refuses('bare', 'bare/core'));

  const kept = 'clone/.stackwarden';
  t.notOk(refuses('clone/.builds/one', `${kept}/links`, kept), 'what a clone keeps by default is no part of it');
  t.ok(refuses('clone/.builds/one', 'clone/node_modules', kept));
  t.ok(refuses('clone/.builds/one', 'clone/node_modules', 'clone'));
});

t.test('a root above the product leaves the links of the product alone', async t => {
  const product = { dist: { to: '/old/dist' }, node_modules: { '.bin': { tool: { to: '/old/tool' } } } };
  const dir = linkDir(t, { config: {}, home: { films: { one: { to: '/old/one' } }, product } });
  const [home, installed] = [path.join(dir, 'home'), path.join(dir, 'home/product')];
  const before = found(installed);
  const options = { configDir: path.join(dir, 'config'), id: 'd'.repeat(32), installDirs: [installed] };
  const errors = [{ link_path: installed, error: /links in it stay as they are$/ }];
  const rules = [{ from_prefix: '/old', to_prefix: '/new' }];
  const rewritten = await taskResult('repair', repairInput({ roots: [home], rules }), options);
  t.match(rewritten, { changed: 1, scanned_symlinks: 1, errors });
  const migrations = [{ from_root: home, to_root: path.join(dir, 'moved') }];
  t.match(await taskResult('repair', repairInput({ migrations }), options), { moved: 1, errors });
  t.equal(found(installed), before);
});
