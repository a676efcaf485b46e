/** `bun run start`: runs the default server from a cached bundle, so that its files are not read and compiled at every start. */
import { fileURLToPath } from 'node:url'
import { freshBundle, server } from './bundle.ts'

const buildBundle = () => {
  // In another process, so that the server does not keep the memory of the build.
  Bun.spawnSync([process.execPath, fileURLToPath(new URL('./bundle.ts', import.meta.url))])
  return freshBundle(server)
}

// Without a bundle, for example in a read-only folder, the source files run.
const { main }: typeof import('../server.ts') = await import(freshBundle(server) ?? buildBundle() ?? '../server.ts')
await main()
