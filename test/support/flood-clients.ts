/**
 * A process of attackers: `flood-clients.ts <port> <connections>`. Each floods with one kind of free frame, as fast as the socket
 * takes them, and comes back whenever it is closed. Says on stdin's every line how many frames were written and how often it was closed.
 */
import { connect } from 'node:net'
import { setPriority } from 'node:os'
import { createInterface } from 'node:readline'
import { announce, FREE_FRAMES } from './free-frames.ts'
import { upgradeRequest } from './raw-client.ts'

const [port, connections] = process.argv.slice(2).map(Number) as [number, number]
// Attackers have machines of their own: they are not to take this one's time from the server.
setPriority(19)
const kinds = Object.values(FREE_FRAMES)
let frames = 0
let closes = 0

function flood(i: number): void {
  const socket = connect(port, '127.0.0.1')
  const chunk = Buffer.concat(Array.from({ length: 5_000 }, () => kinds[i % kinds.length]!))
  const more = (): void => {
    if (!socket.writable) return
    frames += 5_000
    // A turn of its own each time, so that this process notices when it is closed.
    socket.write(chunk, () => setImmediate(more))
  }
  socket.on('error', () => {})
  socket.once('data', () => {
    socket.resume()
    socket.write(announce())
    more()
  })
  socket.on('close', () => {
    closes++
    setTimeout(() => flood(i), 100)
  })
  socket.write(upgradeRequest(port, `attacked-${i % 3}`))
}
for (let i = 0; i < connections; i++) flood(i)
createInterface({ input: process.stdin }).on('line', () => console.log(JSON.stringify({ frames, closes })))
console.log('flooding')
