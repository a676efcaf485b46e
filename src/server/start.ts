/**
 * `bun run start`: runs the default server from a cached bundle, so that its files are not read and compiled at every
 * start.
 */
import { fileURLToPath } from 'node:url'
import { findBundle, serverBundle } from './bundle.ts'
import { expectNoArguments, serverUsage } from './usage.ts'

expectNoArguments(serverUsage)

const buildInSubprocess = () => {
  // In another process, so that the server does not keep the memory of the build.
  Bun.spawnSync([process.execPath, fileURLToPath(new URL('./bundle.ts', import.meta.url))])
  return findBundle(serverBundle)
}

// Without a bundle, for example in a read-only folder, the source files run.
const { startCommand }: typeof import('../server.ts') = await import(
  findBundle(serverBundle) ?? buildInSubprocess() ?? '../server.ts'
)
await startCommand()
