import { readdirSync, readFileSync, statSync } from 'node:fs'

/**
 * How many files and sockets this process may open, and has open now. Null where the system does not say (only Linux
 * does). Node raises its soft limit to the hard one at start, so what is read here is what holds.
 */
export function readDescriptors(): { limit: number; used: number } | null {
  try {
    const limit = parseDescriptorLimit(readFileSync('/proc/self/limits', 'utf8'))
    const used = countDescriptors()
    return limit === null || used === null ? null : { limit, used }
  } catch {
    return null
  }
}

/**
 * Descriptors that are open now; null where the system does not say, or has none left to look with. From Linux 6.2 on the
 * directory's size is their number, which takes 2 µs and no descriptor; before, its entries are counted.
 */
export function countDescriptors(): number | null {
  try {
    const { size } = statSync('/proc/self/fd')
    // One of the entries is the directory itself, opened to be read.
    return size > 0 ? size : readdirSync('/proc/self/fd').length - 1
  } catch {
    return null
  }
}

/** The soft limit of open files in the text of /proc/<pid>/limits. Null when it is not there or unlimited. */
export function parseDescriptorLimit(limits: string): number | null {
  const match = /^Max open files\s+(\d+)\s/m.exec(limits)
  return match ? Number(match[1]) : null
}
