/**
 * The other nodes, as a room sees them. What a node's own members wrote is published; what comes from others is applied in
 * a transaction of its own, relayed, and never published again (CL3).
 */
export interface Cluster {
  readonly kind: 'single' | 'redis'
  /** Starts hearing of a room. The returned function stops it. */
  join(room: string, listener: ClusterListener): () => void
  /** Tells the other nodes of an update that this room's document emitted for local work. Never throws. */
  publishUpdate(room: string, update: Uint8Array): void
  /** Tells the other nodes of presence changes of local members (an awareness update). Never throws. */
  publishPresence(room: string, awarenessUpdate: Uint8Array): void
  close(): Promise<void>
}

export interface ClusterListener {
  /** A Yjs V1 update from another node: checked like any input. */
  update(update: Uint8Array): void
  /** An awareness update from another node. */
  presence(awarenessUpdate: Uint8Array): void
}
