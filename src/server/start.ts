/** `bun run start`: the default server, from a bundle of its files. They are read, compiled and put together once rather than at every start. */
import { fileURLToPath } from 'node:url'
import { freshBundle, server } from './bundle.ts'

const make = () => {
  // A process of its own: its memory goes with it.
  Bun.spawnSync([process.execPath, fileURLToPath(new URL('./bundle.ts', import.meta.url))])
  return freshBundle(server)
}

// Where no bundle can be made or kept, the files themselves serve.
const { main }: typeof import('../server.ts') = await import(freshBundle(server) ?? make() ?? '../server.ts')
await main()
