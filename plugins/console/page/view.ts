// What a view of the page is to the frame around it.

export interface View {
  readonly title: string;
  readonly element: HTMLElement;
  /** Called once it is in the document. */
  open(): void;
  close(): void;
}
