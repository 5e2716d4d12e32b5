// Files of the host's own state are recognized, also those that plugins declare.
import t from 'tap';
import { declareHostState, isHostState } from '../../../core/kit/host-state.ts';

const isState = (file: string) => isHostState(`/config/${file}`, '/config');

t.test('files that plugins declare are state, with temporary files beside them', async t => {
  for (const file of ['area/jobs/1.json', 'area.json', 'area.json.bak']) t.notOk(isState(file), file);
  declareHostState('area');
  declareHostState('area.json');
  for (const file of ['area/jobs/1.json', 'area', 'area.json', 'area.json.bak']) t.ok(isState(file), file);
  for (const file of ['areas/1.json', 'other/area.json', '../area']) t.notOk(isState(file), file);
  for (const file of ['users.json.bak', 'supervisor/state.json']) t.ok(isState(file), file);
});
