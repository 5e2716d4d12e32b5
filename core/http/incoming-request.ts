// A request as listeners receive it. It is answered over HTTP/1.1 if it offers an upgrade to another protocol than
// WebSocket, such as HTTP/2, or if earlier requests of its connection are not answered yet.
import { IncomingMessage } from 'node:http';

const WEB_SOCKET = /(?:^|,)\s*websocket\s*(?:,|$)/i;

export class IncomingRequest extends IncomingMessage {
  /**
   * Whether the request offers an upgrade. Only declared, because the constructor of the base class sets it already.
   */
  declare private offersUpgrade: boolean | null;
  /** Whether an earlier request of the connection is not answered yet. The answer to an upgrade would overtake it. */
  declare private isEarly: boolean;

  /** Whether the connection leaves HTTP. Node reads this after the headers, and would itself accept any offer. */
  get upgrade(): boolean {
    if (this.offersUpgrade !== true) return false;
    return this.method === 'CONNECT' || (this.offersWebSocket && !this.isEarly);
  }

  set upgrade(offers: boolean | null) {
    this.offersUpgrade = offers;
    this.isEarly = offers === true && this.isConnectionBusy();
  }

  /**
   * Whether an offer of an upgrade was not accepted. Node drops bytes that came with such a request, so the connection
   * must end after it.
   */
  get isLast(): boolean {
    return this.offersUpgrade === true && !this.upgrade;
  }

  get isEarlyUpgrade(): boolean {
    return this.isLast && this.isEarly && this.offersWebSocket;
  }

  protected isConnectionBusy(): boolean {
    return false;
  }

  private get offersWebSocket(): boolean {
    return WEB_SOCKET.test(this.headers.upgrade ?? '');
  }
}
