import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface BundleOptions {
  /** The project's folder. Bundles lie in its `node_modules/.cache/sluice`. */
  readonly root: string
  /** The module that is bundled with all that it imports, a path in `root`. */
  readonly entry: string
  /** A module of them that is imported from where it is, a path in `root`: it looks for files beside itself. */
  readonly outside?: string
  /** Further files that say what the bundle is, paths in `root`. */
  readonly settings?: readonly string[]
}

/** What `bun run start` runs. */
export const server: BundleOptions = {
  root: fileURLToPath(new URL('../../', import.meta.url)),
  entry: 'src/server.ts',
  outside: 'plugins/console/files.ts',
  // They say which file an import means, and how it is read.
  settings: ['package.json', 'bun.lock', 'tsconfig.json'],
}

/**
 * Path of a CommonJS module, with its bytecode beside it, that was made of exactly what all its files hold now; undefined where there is none. All of them are read: other
 * contents can have the same time and size.
 */
export const freshBundle = ({ root, entry }: BundleOptions): string | undefined => {
  const folder = folderOf(root)
  try {
    const inputs: readonly string[] = JSON.parse(readFileSync(join(folder, list), 'utf8'))
    const name = nameOf(root, inputs, (path) => readFileSync(`${root}/${path}`))
    const path = join(folder, name, `${basename(entry, '.ts')}.js`)
    return existsSync(path) ? path : undefined
  } catch {
    // None was made yet, or one of its files is gone.
    return undefined
  }
}

/** Makes one, in place of those from before. Rejects where it cannot be made or kept. Several processes may do so at once. */
export const makeBundle = async ({ root, entry, outside, settings = [] }: BundleOptions): Promise<void> => {
  const folder = folderOf(root)
  mkdirSync(folder, { recursive: true })
  const made = join(folder, unfinished + crypto.randomUUID())
  mkdirSync(made)
  try {
    /** The very bytes that go into it: a file may change at any time. */
    const inputs = new Map<string, Uint8Array>()
    const read = (path: string) => {
      const contents = readFileSync(path)
      inputs.set(relative(root, path), contents)
      return contents
    }
    for (const path of settings) read(join(root, path))
    const { outputs } = await Bun.build({
      entrypoints: [join(root, entry)],
      outdir: made,
      target: 'bun',
      // There is bytecode of nothing else.
      format: 'cjs',
      bytecode: true,
      define: { 'import.meta.main': 'false' },
      plugins: [
        {
          name: 'inputs',
          setup(build) {
            if (outside !== undefined) {
              build.onResolve({ filter: new RegExp(`/${basename(outside)}$`) }, ({ path, importer }) => {
                const found = resolve(dirname(importer), path)
                return found === join(root, outside) ? { path: found, external: true } : undefined
              })
            }
            build.onLoad({ filter: /./ }, ({ path, loader }) => ({ contents: read(path), loader }))
          },
        },
      ],
    })
    // After a power failure it is whole, or not there.
    for (const { path } of outputs) sync(path)
    const name = nameOf(root, inputs.keys(), (path) => inputs.get(path) ?? '')
    if (!existsSync(join(folder, name))) renameSync(made, join(folder, name))
    writeFileSync(`${made}.json`, JSON.stringify([...inputs.keys()]))
    renameSync(`${made}.json`, join(folder, list))
    for (const other of readdirSync(folder)) {
      if (other !== name && other !== list && !isUnderWay(join(folder, other))) {
        rmSync(join(folder, other), { recursive: true, force: true })
      }
    }
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

/** The files that the last one was made of. */
const list = 'inputs.json'
const unfinished = 'unfinished-'

/** Whether another process may be making it still. One takes a second. */
const isUnderWay = (path: string): boolean =>
  basename(path).startsWith(unfinished) &&
  Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < 600_000

const folderOf = (root: string): string => join(root, 'node_modules/.cache/sluice')

/** A digest of all that it was made of. Bytecode is for one version of the runtime, and a module outside is found by where it is. */
const nameOf = (root: string, inputs: Iterable<string>, read: (path: string) => string | Uint8Array): string => {
  const hash = new Bun.CryptoHasher('sha256')
  hash.update(JSON.stringify([Bun.revision, process.platform, process.arch, root]))
  for (const path of inputs) {
    const contents = read(path)
    hash.update(JSON.stringify([path, contents.length])).update(contents)
  }
  return hash.digest('hex')
}

const sync = (path: string): void => {
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

if (import.meta.main) await makeBundle(server)
