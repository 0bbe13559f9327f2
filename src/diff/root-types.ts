import type * as Y from 'yjs'

/** What an item's parent is once it is integrated; yjs' own declarations leave the events open. */
// biome-ignore lint/suspicious/noExplicitAny: reason: Item.parent is declared with it
export type ParentType = Y.AbstractType<any>

/**
 * The names of a document's root types. Yjs looks a name up by walking all of them, for every struct that needs it: with
 * 60 000 roots that alone takes seconds per encode. Here one walk serves all until a new root appears.
 */
export class RootTypes {
  private readonly doc: Y.Doc
  private names = new WeakMap<ParentType, string>()

  constructor(doc: Y.Doc) {
    this.doc = doc
  }

  /** Throws for a type that is not a root of this document. */
  nameOf(type: ParentType): string {
    const known = this.names.get(type)
    if (known !== undefined) return known
    for (const [name, root] of this.doc.share) this.names.set(root, name)
    const found = this.names.get(type)
    if (found === undefined) throw new Error('not a root type of this document')
    return found
  }
}
