// Files of the host's own state are known, also those that plugins keep beside it.
import t from 'tap';
import { declareHostState, isHostState } from '../../../core/kit/host-state.ts';

const isState = (file: string) => isHostState(`/config/${file}`, '/config');

t.test('what plugins declare is state, with what is made beside it', async t => {
  for (const file of ['area/jobs/1.json', 'area.json', 'area.json.bak']) t.notOk(isState(file), file);
  declareHostState('area');
  declareHostState('area.json');
  for (const file of ['area/jobs/1.json', 'area', 'area.json', 'area.json.bak']) t.ok(isState(file), file);
  for (const file of ['areas/1.json', 'other/area.json', '../area']) t.notOk(isState(file), file);
  for (const file of ['users.json.bak', 'supervisor/state.json']) t.ok(isState(file), file);
});
