import * as Y from 'yjs'
import { AuthorMap } from './author-map.ts'

/**
 * A Y.Doc made for a server: what it costs to take an update in depends on the update.
 *
 * It is silent at no cost: a transaction emits eight events, of which a server listens to two, and for each of the others
 * lib0 makes a Map and an Array of nobody. A fifth of what a small transaction costs.
 *
 * And a transaction begun by `transact` does not walk all authors that the board ever had (HI1): its `beforeState` and
 * `afterState` name those that it looked at. Other transactions, a bare Y.applyUpdate, are as in Yjs.
 */
export class BoardDoc extends Y.Doc {
  readonly #authors = new AuthorMap()

  constructor() {
    super()
    this.store.clients = this.#authors
  }

  override transact<T>(body: (transaction: Y.Transaction) => T, origin?: unknown): T {
    // Inside another one, or while another one is cleaned up, it ends with that one.
    const isFirst = this._transaction === null && this._transactionCleanups.length === 0
    if (!isFirst) return super.transact(body, origin)
    this.#authors.open()
    try {
      return super.transact(body, origin)
    } finally {
      this.#authors.close()
    }
  }

  override emit(...[name, args]: Parameters<Y.Doc['emit']>): void {
    if (name === 'beforeTransaction' && this.#authors.isOpen) {
      const transaction = args[0] as Y.Transaction
      transaction.beforeState = this.#authors.begin(this.clientID)
    }
    const observers = this._observers.get(name)
    if (observers === undefined) return
    // A copy, as in lib0: who subscribes meanwhile is not told yet.
    for (const observer of [...observers]) observer(...args)
  }
}
