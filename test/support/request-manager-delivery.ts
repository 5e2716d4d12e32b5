// The answer of a request manager to one call, with what can go wrong on its way. Tests with and without sockets use
// it.
import type { ManagerCall } from './request-journal.ts';
import { API_PATH, type RequestManager } from './request-manager.ts';
import type { ManagerFault } from './request-manager-fault.ts';

export interface Delivery {
  readonly delayMs: number;
  /** `never`: nothing comes. `cut`: the connection ends after half of the text, or at once when there is no text. */
  readonly end: 'whole' | 'cut' | 'never';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
const LOGIN_PAGE = '<!doctype html><html><body><form action="/login"><input name="password"></form></body></html>';

/** Lets the manager act on the call unless its fault forbids it. */
export function deliver(manager: RequestManager, call: ManagerCall): Delivery {
  const fault = manager.faultOf(call);
  switch (fault?.kind) {
    case 'hang':
      manager.noteUnserved(call, null, fault.kind);
      return { ...NOTHING, end: 'never' };
    case 'status':
      return unserved(manager, call, fault, fault.status, { 'content-type': 'text/plain' }, 'upstream failed');
    case 'html':
      return unserved(manager, call, fault, 200, { 'content-type': 'text/html' }, LOGIN_PAGE);
    case 'busy':
      return unserved(
        manager,
        call,
        fault,
        429,
        { ...JSON_TYPE, ...(fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter }) },
        JSON.stringify({ message: 'Too many requests.' }),
      );
    case 'redirect':
      return unserved(manager, call, fault, 302, { location: `${fault.origin}${API_PATH}${call.path}` }, '');
    case 'reset':
      if (fault.isActedOn) return { ...served(manager, call, fault.kind), end: 'cut' };
      manager.noteUnserved(call, null, fault.kind);
      return { ...NOTHING, end: 'cut' };
    case 'garbled': {
      const whole = served(manager, call, fault.kind);
      return { ...whole, text: whole.text.slice(0, whole.text.length / 2) };
    }
    case 'slow':
      return { ...served(manager, call), delayMs: fault.ms };
    default:
      return served(manager, call);
  }
}

const NOTHING = { delayMs: 0, status: 0, headers: {}, text: '' };

function served(manager: RequestManager, call: ManagerCall, fault?: ManagerFault['kind']): Delivery {
  const { status, body } = manager.answer(call, fault);
  const text = body === undefined ? '' : JSON.stringify(body);
  return { delayMs: 0, end: 'whole', status, headers: body === undefined ? {} : JSON_TYPE, text };
}

function unserved(
  manager: RequestManager,
  call: ManagerCall,
  fault: ManagerFault,
  status: number,
  headers: Record<string, string>,
  text: string,
): Delivery {
  manager.noteUnserved(call, status, fault.kind);
  return { delayMs: 0, end: 'whole', status, headers, text };
}
