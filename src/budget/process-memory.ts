/** What V8 and the system say about this process's memory. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { GarbageCollector } from './memory-guard.ts'

/**
 * So much memory outside of its heap makes V8 begin a collection that goes on beside the program (measured: with 400 MB live it ends
 * half a second later and stops the program for 10 to 20 ms, one that is forced for 300 to 600); at 160 MB it collects at once.
 * Nothing is written to it, so that it takes no page.
 */
const NUDGE_BYTES = 96 << 20

/** V8's collector: begun in the background, or forced. */
export function garbageCollector(): GarbageCollector {
  // The flag makes `gc` a global of contexts made from then on; this process's own stays as it is.
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('globalThis.gc')
  setFlagsFromString('--no-expose-gc')
  let asked = 0
  let over = 0
  // What nobody has is found by the next collection of the whole heap.
  const registry = new FinalizationRegistry<number>((ask) => {
    over = Math.max(over, ask)
  })
  return {
    begin: () => {
      registry.register({}, ++asked)
      // It may be too much for a limit on the address space.
      try {
        void new ArrayBuffer(NUDGE_BYTES)
      } catch {}
    },
    isOver: () => over >= asked,
    force: typeof collect === 'function' ? () => collect() : () => {},
  }
}

/** Bytes of live objects (garbage that was not collected yet among them) and of the buffers that they hold. */
export function heapBytes(): number {
  const { used_heap_size, external_memory, malloced_memory } = getHeapStatistics()
  return used_heap_size + external_memory + malloced_memory
}
