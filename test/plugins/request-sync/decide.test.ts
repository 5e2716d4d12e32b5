// The decision table row by row.
import t from 'tap';
import {
  decide,
  type Situation,
  type Step,
  type SyncOptions,
  type View,
} from '../../../plugins/request-sync/decide.ts';
import type { Holding } from '../../../plugins/request-sync/holding.ts';
import type { RemoteRequest, Title } from '../../../plugins/request-sync/remote-request.ts';
import { group, MOVIE, request, SERIES, STATUS, title } from '../../support/request-situation.ts';

const OPTIONS: SyncOptions = {
  sync_pending: true,
  sync_approved: true,
  sync_declined: false,
  sync_deletes: true,
  user_mapping: 'admin',
  pending_without_approval: 'create',
};
const NO_VIEW: View = { requests: new Map() };
const held = (more: Partial<Holding> = {}): Holding => ({ id: 7, status: 2, synced_at: '', ids: [7], ...more });
const read = (...requests: RemoteRequest[]): View => ({ requests: new Map(requests.map(found => [found.id, found])) });
const seen = (more: Partial<Title> = {}, view: View = NO_VIEW): View => ({ ...view, title: title(more) });

interface Row extends Partial<Omit<Situation, 'options'>> {
  readonly row: string;
  readonly options?: Partial<SyncOptions>;
  readonly step: Partial<Step> | undefined;
}

const create = { kind: 'create', purpose: 'create', seasons: [] } as const;
const series = (seasons: number[]) => ({ ...SERIES, seasons });
const user = { id: 4, permissions: 32 };

const ROWS: readonly Row[] = [
  // Not held.
  { row: 'pending, not replicated', group: group(1), options: { sync_pending: false }, step: undefined },
  { row: 'pending: the title is asked for', group: group(1), step: { kind: 'look' } },
  { row: 'pending: created', group: group(1), view: seen(), step: create },
  { row: 'approved, not replicated', group: group(2), options: { sync_approved: false }, step: undefined },
  ...[STATUS.approved, STATUS.failed, STATUS.completed].map(status => ({
    row: `status ${status}: created`,
    group: group(status),
    view: seen(),
    step: create,
  })),
  {
    row: 'the title is unknown or was not told: created',
    group: group(2),
    view: { ...NO_VIEW, title: null },
    step: create,
  },
  { row: 'declined', group: group(3), options: { sync_declined: true }, step: undefined },
  {
    row: 'available: nothing to ask for',
    group: group(2),
    view: seen({ status: 5 }),
    step: { kind: 'record', holding: { id: 0, status: 5, synced_at: '' } },
  },
  { row: 'available in 4K alone', group: group(2), view: seen({ status4k: 5 }), step: create },
  {
    row: '4K, available in normal quality',
    media: { ...MOVIE, is4k: true },
    group: group(2, { is4k: true }),
    view: seen({ status: 5 }),
    step: create,
  },
  {
    row: 'a series with seasons',
    media: SERIES,
    group: group(2, series([1, 2])),
    view: seen(),
    step: { ...create, seasons: [1, 2] },
  },
  {
    row: 'a series without',
    media: SERIES,
    group: group(2, series([])),
    view: seen(),
    step: { ...create, seasons: 'all' },
  },
  { row: 'nothing on the primary', step: undefined },
  // Pending where the administrator's requests are approved at once.
  { row: 'held back', group: group(1), options: { pending_without_approval: 'hold' }, step: undefined },
  {
    row: 'approved meanwhile',
    group: group(2),
    options: { pending_without_approval: 'hold' },
    view: seen(),
    step: create,
  },
  {
    row: 'by mail: the user is sought',
    group: group(1),
    options: { user_mapping: 'email_match' },
    step: { kind: 'find-user' },
  },
  {
    row: 'by mail: the user asks',
    group: group(1),
    options: { user_mapping: 'email_match', pending_without_approval: 'hold' },
    view: { ...seen(), user },
    step: { ...create, userId: 4, isAskedByUser: true },
  },
  ...[2, 16, 128, 256, 512, 32_768, 65_536, 131_072].map(bit => ({
    row: `by mail: bit ${bit} would approve it`,
    group: group(1),
    options: { user_mapping: 'email_match' as const, pending_without_approval: 'hold' as const },
    view: { ...seen(), user: { id: 4, permissions: 32 | bit } },
    step: undefined,
  })),
  {
    row: 'by mail: approved, so it only becomes theirs',
    group: group(2),
    options: { user_mapping: 'email_match' },
    view: { ...seen(), user },
    step: { ...create, userId: 4, isAskedByUser: false },
  },
  {
    row: 'by mail: nobody there',
    group: group(2),
    options: { user_mapping: 'email_match' },
    view: { ...seen(), user: null },
    step: create,
  },
  // Held.
  {
    row: 'pending there, approved: read before',
    group: group(2),
    holding: held({ status: 1 }),
    step: { kind: 'read', id: 7 },
  },
  {
    row: 'pending there, approved',
    group: group(2),
    holding: held({ status: 1 }),
    view: read(request({ status: 1 })),
    step: { kind: 'approve', id: 7 },
  },
  {
    row: 'approved there by hand',
    group: group(2),
    holding: held({ status: 1 }),
    view: read(request()),
    step: { kind: 'record', holding: held() },
  },
  {
    row: 'pending there, approvals not replicated',
    group: group(2),
    holding: held({ status: 1 }),
    options: { sync_approved: false },
    step: undefined,
  },
  { row: 'pending there and here', group: group(1), holding: held({ status: 1 }), step: undefined },
  {
    row: 'gone there',
    group: group(2),
    holding: held({ status: 1 }),
    view: { requests: new Map([[7, null]]) },
    step: { kind: 'record', holding: held({ status: 1, gone: true }) },
  },
  {
    row: "the number is another title's",
    group: group(2),
    holding: held({ status: 1 }),
    view: read(request({ status: 1, tmdbId: 604 })),
    step: { kind: 'record', holding: held({ status: 1, gone: true }) },
  },
  { row: 'gone for good', group: group(2), holding: held({ status: 1, gone: true }), step: undefined },
  {
    row: 'declined there, approved again',
    group: group(2),
    holding: held({ status: 3 }),
    view: read(request({ status: 3 })),
    step: { kind: 'approve', id: 7 },
  },
  { row: 'declined, both off', group: group(3), holding: held(), options: { sync_deletes: false }, step: undefined },
  {
    row: 'declined',
    group: group(3),
    holding: held(),
    options: { sync_declined: true },
    view: read(request()),
    step: { kind: 'decline', id: 7 },
  },
  {
    row: 'declined: all of what was created',
    group: group(3),
    holding: held({ id: 8, ids: [7, 8] }),
    options: { sync_declined: true },
    view: read(request(), request({ id: 8, status: 3 })),
    step: { kind: 'decline', id: 7 },
  },
  {
    row: 'declined there already',
    group: group(3),
    holding: held({ status: 3 }),
    options: { sync_declined: true },
    step: undefined,
  },
  {
    row: 'declined, deletes on',
    group: group(3),
    holding: held(),
    view: read(request()),
    step: { kind: 'delete', id: 7 },
  },
  {
    row: 'declined, not all of it is known',
    group: group(3, {}, false),
    holding: held(),
    options: { sync_declined: true },
    step: undefined,
  },
  {
    row: 'declined, but it was there before',
    group: group(3),
    holding: { id: 7, status: 2, synced_at: '', adopted: true },
    options: { sync_declined: true },
    step: undefined,
  },
  { row: 'declined, nothing tracked there', group: group(3), holding: held({ id: 0, ids: [] }), step: undefined },
  {
    row: 'it was there before, and is approved',
    group: group(2),
    holding: { id: 7, status: 1, synced_at: '', adopted: true },
    view: read(request({ status: 1 })),
    step: { kind: 'approve', id: 7 },
  },
  {
    row: 'filtered by an option since',
    group: group(1),
    holding: held(),
    options: { sync_pending: false },
    step: undefined,
  },
  // Deleted.
  { row: 'deleted: read before', isDeleted: true, holding: held(), step: { kind: 'read', id: 7 } },
  {
    row: 'deleted',
    isDeleted: true,
    holding: held({ id: 8, ids: [7, 8] }),
    view: read(request()),
    step: { kind: 'delete', id: 7 },
  },
  {
    row: 'deleted: all of what was created',
    isDeleted: true,
    holding: held({ id: 8, ids: [7, 8] }),
    view: {
      requests: new Map([
        [7, null],
        [8, request({ id: 8 })],
      ]),
    },
    step: { kind: 'delete', id: 8 },
  },
  {
    row: 'deleted, and gone there',
    isDeleted: true,
    holding: held(),
    view: { requests: new Map([[7, null]]) },
    step: { kind: 'record', holding: undefined },
  },
  {
    row: "deleted, but the number is another title's",
    isDeleted: true,
    holding: held(),
    view: read(request({ tmdbId: 604 })),
    step: { kind: 'record', holding: undefined },
  },
  {
    row: 'deleted, but it was there before',
    isDeleted: true,
    holding: { id: 7, status: 2, synced_at: '', adopted: true },
    step: { kind: 'record', holding: undefined },
  },
  {
    row: 'deleted, entry of an earlier program',
    isDeleted: true,
    holding: { id: 7, status: 2, synced_at: '' },
    view: read(request()),
    step: { kind: 'delete', id: 7 },
  },
  {
    row: 'deleted, deletes off',
    isDeleted: true,
    holding: held(),
    options: { sync_deletes: false },
    step: { kind: 'record', holding: undefined },
  },
  { row: 'deleted, not held', isDeleted: true, step: undefined },
  // Further seasons.
  {
    row: 'the same seasons',
    media: SERIES,
    group: group(2, series([1, 2])),
    holding: held({ seasons: [1, 2, 3] }),
    step: undefined,
  },
  {
    row: 'more: the title is asked for',
    media: SERIES,
    group: group(2, series([1, 2])),
    holding: held({ seasons: [1] }),
    step: { kind: 'look', purpose: 'seasons' },
  },
  {
    row: 'more: only those',
    media: SERIES,
    group: group(2, series([1, 2])),
    holding: held({ seasons: [1] }),
    view: seen(),
    step: { kind: 'create', purpose: 'seasons', seasons: [2] },
  },
  {
    row: 'more, requested there by others',
    media: SERIES,
    group: group(2, series([1, 2])),
    holding: held({ seasons: [1] }),
    view: seen({ requests: [request({ id: 9, ...series([2]) })] }),
    step: { kind: 'record', holding: held({ seasons: [1, 2] }) },
  },
  {
    row: 'more, in a declined request',
    media: SERIES,
    group: group(2, series([1, 2])),
    holding: held({ seasons: [1] }),
    view: seen({ requests: [request({ id: 9, status: 3, ...series([2]) })] }),
    step: { kind: 'create', seasons: [2] },
  },
  {
    row: 'more, still pending there',
    media: SERIES,
    group: group(1, series([1, 2])),
    holding: held({ status: 1, seasons: [1] }),
    view: seen({}, read(request({ status: 1, ...series([1]) }))),
    step: { kind: 'extend', id: 7, seasons: [1, 2] },
  },
  {
    row: 'more, and the change is refused',
    media: SERIES,
    group: group(1, series([1, 2])),
    holding: held({ status: 1, seasons: [1] }),
    view: { ...seen({}, read(request({ status: 1, ...series([1]) }))), isEditRefused: true },
    step: { kind: 'create', purpose: 'seasons', seasons: [2] },
  },
  {
    row: 'entry of an earlier program',
    media: SERIES,
    group: group(2, series([1, 2])),
    holding: { id: 7, status: 2, synced_at: '' },
    view: seen({ requests: [request(series([1]))] }),
    step: { kind: 'create', seasons: [2] },
  },
  {
    row: 'fewer: nothing',
    media: SERIES,
    group: group(2, series([1])),
    holding: held({ seasons: [1, 2] }),
    step: undefined,
  },
  {
    row: 'more, pending and held back',
    media: SERIES,
    group: group(1, series([1, 2])),
    holding: held({ seasons: [1] }),
    options: { pending_without_approval: 'hold' },
    step: undefined,
  },
  {
    row: 'more, filtered since',
    media: SERIES,
    group: group(2, series([1, 2])),
    holding: held({ seasons: [1] }),
    options: { sync_approved: false },
    step: undefined,
  },
];

t.test('each row of the table gives its step', async t => {
  for (const { row, step, options, ...situation } of ROWS) {
    const whole = { media: MOVIE, group: undefined, isDeleted: false, holding: undefined, view: NO_VIEW, ...situation };
    const found = decide({ ...whole, options: { ...OPTIONS, ...options } });
    if (step === undefined) t.equal(found, undefined, row);
    else if (step.kind === 'record') t.same(found, step, row);
    else t.match(found, step, row);
  }
});
