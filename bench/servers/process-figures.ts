/** What the kernel says about a process and a core. Linux only. */
import { readFileSync } from 'node:fs'

/** `USER_HZ`: fixed at 100 in what /proc shows, on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100

/** CPU time used by all threads of a process, ms, in steps of 10. */
export const cpuMs = (pid: number): number => usedMs(`/proc/${pid}/stat`)

/** The same of its first thread alone, which is the one that a Node server's loop runs on. */
export const mainThreadMs = (pid: number): number => usedMs(`/proc/${pid}/task/${pid}/stat`)

function usedMs(file: string): number {
  const stat = readFileSync(file, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND
}

/** Resident memory, bytes. */
export function residentBytes(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
  return Number(line?.[1] ?? Number.NaN) * 1024
}

/** Time that a core was busy with anything, ms. */
export function coreBusyMs(core: number): number {
  const line = new RegExp(`^cpu${core} (.*)$`, 'm').exec(readFileSync('/proc/stat', 'latin1'))
  const [user, nice, system, , , irq, softIrq, steal] = (line?.[1] ?? '').split(' ').map(Number)
  return ((user! + nice! + system! + irq! + softIrq! + steal!) * 1000) / TICKS_PER_SECOND
}

/** Most files this process may open. */
export function maxOpenFiles(): number {
  const line = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'latin1'))
  return line === null || line[1] === 'unlimited' ? Number.POSITIVE_INFINITY : Number(line[1])
}
