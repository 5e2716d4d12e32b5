// Finds the version of a .NET assembly in its version resource, whose texts are UTF-16 (VS_VERSIONINFO). The file is
// read in parts, of which only the end is kept.

const NAME = Buffer.from('Assembly Version\0', 'utf16le');
/** Longer than any version with the zero bytes before it. */
const VALUE_BYTES = 128;
/** Where the search stops; the assemblies that templates name are smaller. */
const MAX_BYTES = 64 * 1024 * 1024;

export class AssemblyVersion {
  #rest: Buffer = Buffer.alloc(0);
  #seenBytes = 0;
  found: string | undefined;

  /** Takes the next part of the file. Returns whether no further part is needed. */
  take(part: Buffer): boolean {
    this.#seenBytes += part.length;
    const text = Buffer.concat([this.#rest, part]);
    const at = text.indexOf(NAME);
    if (at !== -1 && text.length >= at + NAME.length + VALUE_BYTES) return this.#read(text, at);
    // Only the end of this part can belong to a name that the next part completes.
    this.#rest = text.subarray(at === -1 ? Math.max(0, text.length - NAME.length) : at);
    return this.#seenBytes > MAX_BYTES;
  }

  /** To be called when the file has ended. */
  end(): void {
    const at = this.#rest.indexOf(NAME);
    if (at !== -1) this.#read(this.#rest, at);
  }

  #read(text: Buffer, at: number): true {
    const value = text.subarray(at + NAME.length, at + NAME.length + VALUE_BYTES).toString('utf16le');
    this.found = /^\0{0,4}([0-9.]{3,40})(?:\0|$)/.exec(value)?.[1];
    return true;
  }
}
