// Laws of all decisions, whatever the situation.
import fc from 'fast-check';
import t from 'tap';
import { decide, type Situation, type Step, type View } from '../../../plugins/request-sync/decide.ts';
import { group, MOVIE, request, SERIES, title } from '../../support/request-situation.ts';

const statuses = fc.constantFrom(1, 2, 3, 4, 5);
const seasonLists = fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { maxLength: 3 });
const situations = fc
  .record({
    media: fc.constantFrom<Situation['media']>(MOVIE, SERIES),
    primary: fc.option(fc.record({ status: statuses, seasons: seasonLists, isWhole: fc.boolean() }), {
      nil: undefined,
    }),
    isDeleted: fc.boolean(),
    holding: fc.option(
      fc
        .record({
          id: fc.constantFrom(0, 7, 8),
          status: statuses,
          synced_at: fc.constant(''),
          earlier: fc.constantFrom([], [7], [8]),
          seasons: seasonLists,
          adopted: fc.boolean(),
          gone: fc.boolean(),
        })
        // The newest of the requests that the sync created here is the tracked one.
        .map(({ earlier, ...held }) => ({
          ...held,
          ids: held.adopted || held.id === 0 ? [] : [...earlier.filter(id => id !== held.id), held.id],
        })),
      { nil: undefined },
    ),
    there: fc.array(
      fc.record({ id: fc.constantFrom(7, 8, 9), status: statuses, seasons: seasonLists, isOther: fc.boolean() }),
    ),
    titleStatus: fc.constantFrom(1, 3, 5),
    permissions: fc.constantFrom(32, 34, 160),
    options: fc.record({
      sync_pending: fc.boolean(),
      sync_approved: fc.boolean(),
      sync_declined: fc.boolean(),
      sync_deletes: fc.boolean(),
      user_mapping: fc.constantFrom('admin' as const, 'email_match' as const),
      pending_without_approval: fc.constantFrom('create' as const, 'hold' as const),
    }),
  })
  .map(({ media, primary, there, titleStatus, permissions, ...more }) => {
    const requests = there.map(({ isOther, ...found }) =>
      request({ ...media, ...found, tmdbId: media.tmdbId + Number(isOther) }),
    );
    const shown = requests.filter(({ tmdbId }) => tmdbId === media.tmdbId);
    const view: View = {
      title: title({ status: titleStatus, requests: shown }),
      requests: new Map([7, 8].map(id => [id, requests.find(found => found.id === id) ?? null])),
      user: { id: 4, permissions },
    };
    const isSeries = media.mediaType === 'tv';
    const asked =
      primary && group(primary.status, { ...media, seasons: isSeries ? primary.seasons : [] }, primary.isWhole);
    return { ...more, media, group: more.isDeleted ? undefined : asked, view };
  });

t.test('the laws hold for any situation', async t => {
  const holds = (law: (situation: Situation, step: Step | undefined) => boolean) =>
    fc.assert(
      fc.property(situations, situation => law(situation, decide(situation))),
      { numRuns: 2_000 },
    );

  t.doesNotThrow(
    () =>
      holds(({ group: asked, isDeleted, options }, step) => {
        if (step?.kind !== 'delete') return true;
        return options.sync_deletes && (isDeleted || (asked?.wish === 'declined' && asked.isWhole));
      }),
    'a deletion has been asked for',
  );
  t.doesNotThrow(
    () =>
      holds(({ holding, view, media }, step) => {
        if (step?.kind !== 'delete' && step?.kind !== 'decline') return true;
        const there = view.requests.get(step.id);
        return holding?.ids?.includes(step.id) === true && there?.tmdbId === media.tmdbId;
      }),
    'deleted or declined is only what was created here and is still for the title',
  );
  t.doesNotThrow(
    () =>
      holds(({ group: asked, options, view }, step) => {
        if (step?.kind !== 'create') return true;
        const isAvailable = view.title?.status === 5;
        return (
          !isAvailable &&
          (asked?.wish === 'approved' ? options.sync_approved : asked?.wish === 'pending' && options.sync_pending)
        );
      }),
    'a creation is what the primary wants and the options replicate',
  );
  t.doesNotThrow(
    () =>
      holds(({ group: asked, options }, step) => {
        if (step?.kind !== 'create' || asked?.wish !== 'pending' || options.pending_without_approval === 'create')
          return true;
        return step.isAskedByUser === true;
      }),
    'nothing pending is approved by its creation where that is not wanted',
  );
  t.doesNotThrow(
    () =>
      holds((situation, step) => {
        if (step?.kind !== 'record') return true;
        if (step.holding === undefined) return situation.isDeleted || situation.group?.wish === 'declined';
        const next = decide({ ...situation, holding: step.holding });
        return JSON.stringify(next) !== JSON.stringify(step);
      }),
    'what was recorded is not recorded again',
  );
});
