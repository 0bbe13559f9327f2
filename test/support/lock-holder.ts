/** A process that locks a directory, says `locked` or why not on stdout, and keeps it: `lock-holder.ts <directory>`. */
import { lockDirectory } from '../../src/storage/directory-lock.ts'

try {
  await lockDirectory(process.argv[2]!)
  console.log('locked')
  setInterval(() => {}, 60_000)
} catch (error) {
  console.log((error as Error).message)
}
