// The interface between a view and the frame around it.

export interface View {
  readonly title: string;
  readonly element: HTMLElement;
  /** Called once the element is in the document. */
  open(): void;
  close(): void;
}
