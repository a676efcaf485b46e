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
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface BundleOptions {
  /** The project's folder. Bundles are stored in its `node_modules/.cache/sluice`. */
  readonly root: string
  /** The module to bundle with all its imports, relative to `root`. */
  readonly entry: string
  /** Packages that are not bundled, because few servers load them. */
  readonly externalPackages?: readonly string[]
  /** Further files that the bundle depends on, relative to `root`. */
  readonly otherInputs?: readonly string[]
}

/** The bundle of `bun run start`. */
export const serverBundle: BundleOptions = {
  root: fileURLToPath(new URL('../../', import.meta.url)),
  entry: 'src/server.ts',
  externalPackages: ['@aws-sdk/client-s3', '@modelcontextprotocol/server'],
  // They determine how imports are resolved and compiled.
  otherInputs: ['package.json', 'bun.lock', 'tsconfig.json'],
}

/**
 * Path of a bundle that matches the current contents of all its input files. Undefined when there is none.
 *
 * It is a CommonJS module with its bytecode next to it. All input files are read, because a changed file can have the
 * same time and size.
 */
export const findBundle = ({ root, entry }: BundleOptions): string | undefined => {
  const folder = folderOf(root)
  try {
    const inputs: readonly string[] = JSON.parse(readFileSync(join(folder, inputsFile), 'utf8'))
    const name = nameOf(root, inputs, (path) => readFileSync(`${root}/${path}`))
    const path = join(folder, name, `${basename(entry, '.ts')}.js`)
    return existsSync(path) ? path : undefined
  } catch {
    // There is no bundle yet, or one of its input files was deleted.
    return undefined
  }
}

/**
 * Builds a bundle and deletes earlier ones. Rejects when it cannot be built or stored. Several processes may do so at
 * the same time.
 */
export const buildBundle = async (options: BundleOptions): Promise<void> => {
  const { root, entry, externalPackages = [], otherInputs = [] } = options
  const folder = folderOf(root)
  mkdirSync(folder, { recursive: true })
  const temporary = join(folder, temporaryPrefix + crypto.randomUUID())
  mkdirSync(temporary)
  try {
    /** The bytes that go into the bundle: a file may change during the build. */
    const inputs = new Map<string, Uint8Array>()
    const read = (path: string) => {
      const contents = readFileSync(path)
      inputs.set(relative(root, path), contents)
      return contents
    }
    for (const path of otherInputs) read(join(root, path))
    const { outputs } = await Bun.build({
      entrypoints: [join(root, entry)],
      outdir: temporary,
      target: 'bun',
      // Bun creates bytecode only for CommonJS.
      format: 'cjs',
      bytecode: true,
      external: [...externalPackages],
      define: { 'import.meta.main': 'false' },
      plugins: [
        {
          name: 'inputs',
          setup(build) {
            build.onLoad({ filter: /./ }, ({ path, loader }) => {
              const contents = read(path)
              if (namesItsMap.test(path)) return { contents: withoutMap(String(contents)), loader: 'text' }
              // Bun (1.4.5) does not say whether a file is imported as text, so Bun itself loads those that may be.
              return loader === 'ts' ? { contents, loader } : undefined
            })
          },
        },
      ],
    })
    // After a power failure, the bundle is complete or absent.
    for (const { path } of outputs) sync(path)
    const name = nameOf(root, inputs.keys(), (path) => inputs.get(path) ?? '')
    if (!existsSync(join(folder, name))) renameSync(temporary, join(folder, name))
    writeFileSync(`${temporary}.json`, JSON.stringify([...inputs.keys()]))
    renameSync(`${temporary}.json`, join(folder, inputsFile))
    for (const other of readdirSync(folder)) {
      if (other !== name && other !== inputsFile && !isInProgress(join(folder, other))) {
        rmSync(join(folder, other), { recursive: true, force: true })
      }
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

/**
 * A library that the console has as a text. Its last line names its source map, and Bun (1.4.5) would take that for the
 * bundle's own: it warns at each start that it cannot read it.
 */
const namesItsMap = /[\\/]marked[\\/]lib[\\/]marked\.esm\.js$/

const withoutMap = (text: string): string => text.replace(/^\/\/# sourceMappingURL=.*$/gm, '')

/** Lists the input files of the latest bundle. */
const inputsFile = 'inputs.json'
const temporaryPrefix = 'unfinished-'

/** Whether another process may still be building this one. A build takes about a second. */
const isInProgress = (path: string): boolean =>
  basename(path).startsWith(temporaryPrefix) &&
  Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < 600_000

const folderOf = (root: string): string => join(root, 'node_modules/.cache/sluice')

/** A digest of all inputs, of the runtime version, which the bytecode depends on, and of the path. */
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

if (import.meta.main) await buildBundle(serverBundle)
