// Matrix: a user posts each message to every room of the URL; nothing is encrypted.
import { definePlugin, Problem } from '#core';
import type { NotificationDestination } from '../notifications/contract.ts';
import { type Account, Sessions } from './sessions.ts';

interface MatrixConfig extends Account {
  /** Rooms with their sign: `#` for an alias, `!` for an id. */
  readonly rooms: readonly string[];
}

/** The id of a room that names no server. */
const BARE_ID = /^![\w-]{43}$/;

const sessions = new Sessions();

const matrix: NotificationDestination<MatrixConfig> = {
  schemes: ['matrix', 'matrixs'],
  example: 'matrixs://user:password@host/#room',

  parse(url) {
    const { user, password, segments, host } = url;
    if (user === '') {
      throw new Problem(
        400,
        'The URL needs a user and password, as in matrixs://user:password@host/#room, or an access token',
      );
    }
    if (segments.length === 0) throw new Problem(400, 'The URL needs a room after the host, such as #room');
    return { base: `${url.base()}/_matrix/client/v3`, user, password, host, rooms: segments.map(roomOf) };
  },

  send: ({ rooms, ...account }, { deliveryId, text }, delivery) =>
    delivery.each(rooms, room =>
      sessions.post(account, delivery, async ({ request, home }) => {
        const isWhole = BARE_ID.test(room) || room.includes(':');
        const joined = await request('POST', `/join/${encodeURIComponent(isWhole ? room : `${room}:${home}`)}`, {});
        const { room_id: id } = joined.json;
        if (joined.status !== 200 || typeof id !== 'string') return joined;
        const place = `/rooms/${encodeURIComponent(id)}/send/m.room.message/${encodeURIComponent(deliveryId)}`;
        return request('PUT', place, { msgtype: 'm.text', body: text });
      }),
    ),
};

/** A name without a sign is an alias. */
function roomOf(segment: string): string {
  return /^[#!]/.test(segment) ? segment : `#${segment}`;
}

export default definePlugin({
  name: 'notify-matrix',
  host: '^1',
  needs: ['notifications'],
  setup: host => host.contribute('notifications.destination', 'matrix', matrix),
});
