import * as Y from 'yjs'
import { checkUpdate } from '../../../src/protocol/update-check.ts'
import { sliceUpdate } from '../../../src/protocol/update-slices.ts'
function vu(n: number) { const o: number[] = []; while (n > 127) { o.push((n & 127) | 128); n = Math.floor(n / 128) } o.push(n); return o }
for (const n of [2000, 5000, 10000, 20000]) {
  // chain: struct 0 map in root m, struct i map whose parent is struct i-1
  const one: number[] = [1, ...vu(n), 9, 0, 7, 1, 1, 109, 1]
  one[one.length - 1] = 0 // array
  for (let i = 1; i < n; i++) one.push(7, 0, 9, ...vu(i - 1), 0)
  one.push(0)
  const two: number[] = [1, ...vu(n), 8, 0]
  for (let i = 0; i < n; i++) two.push(4, 0, 9, ...vu(i), 1, 97)
  two.push(0)
  const A = Uint8Array.from(one), B = Uint8Array.from(two)
  console.log(n, checkUpdate(A).ok, checkUpdate(B).ok, A.length, B.length)
  const d = new Y.Doc(); let t = performance.now(); Y.applyUpdate(d, A); const a = performance.now() - t
  t = performance.now(); try { Y.applyUpdate(d, B) } catch (e) { console.log('B threw', String(e)) } ; const b = performance.now() - t
  const d2 = new Y.Doc(); Y.applyUpdate(d2, A); let worst = 0
  for (const s of sliceUpdate(B, 4096)) { const x = performance.now(); Y.applyUpdate(d2, s); worst = Math.max(worst, performance.now() - x) }
  t = performance.now(); let del = 'ok'
  try { Y.applyUpdate(d, Uint8Array.from([0, 1, 9, 1, 0, 1])) } catch (e) { del = String(e) }
  console.log({ n, a, b, worstSliced: worst, rss: process.memoryUsage().rss >> 20, del, delMs: performance.now() - t })
  try { const st = Y.encodeStateAsUpdate(d); Y.applyUpdate(new Y.Doc(), st); console.log('state loads', st.length, Y.decodeStateVector(Y.encodeStateVector(d))) } catch (e) { console.log('state', String(e)) }
}
