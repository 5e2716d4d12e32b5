// A request as listeners receive it. One that offers another protocol than WebSocket, such as HTTP/2, is answered by
// HTTP/1.1, and so is one that offers WebSocket before what came earlier on its connection is answered.
import { IncomingMessage } from 'node:http';

const WEB_SOCKET = /(?:^|,)\s*websocket\s*(?:,|$)/i;

export class IncomingRequest extends IncomingMessage {
  /** What the parser found, which sets it while the base is constructed. */
  declare private offersUpgrade: boolean | null;
  /** Whether an earlier request of its connection is not answered yet; an upgrade would be answered before that. */
  declare private isEarly: boolean;

  /** Whether the connection leaves HTTP. Node asks once the headers are read; else it would take any offer for that. */
  get upgrade(): boolean {
    if (this.offersUpgrade !== true) return false;
    return this.method === 'CONNECT' || (this.offersWebSocket && !this.isEarly);
  }

  set upgrade(offers: boolean | null) {
    this.offersUpgrade = offers;
    this.isEarly = offers === true && this.isConnectionBusy();
  }

  /**
   * Whether an offer is left aside. What its client sends behind it in one piece is lost, so that nothing may follow.
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
