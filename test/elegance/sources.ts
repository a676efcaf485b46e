import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const root = join(import.meta.dir, '../..')

/** A source file. Its path is relative to the root of the repository. */
export interface Source {
  readonly path: string
  readonly text: string
}

/** All TypeScript files in some folders. A missing folder has none. */
export const sources = (...folders: readonly string[]): readonly Source[] => read(folders, '.ts')

/** The program of the console's pages. */
export const pageScripts = (): readonly Source[] => read(['plugins/console/page'], '.js')

const read = (folders: readonly string[], extension: string): readonly Source[] =>
  folders
    .flatMap((folder) => list(folder, extension))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

const list = (folder: string, extension: string): readonly string[] => {
  try {
    return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith(extension))
      .map((path) => `${folder}/${path}`)
      .sort()
  } catch {
    return []
  }
}

export interface Import {
  /** The specifier. A relative one is resolved from the root of the repository. */
  readonly to: string
  readonly typeOnly: boolean
  /** Whether it is loaded only when the code asks for it. */
  readonly later: boolean
}

const statement = /^(?:import|export)(\s+type)?\b(?:[^'"`;=()]*?\bfrom)?\s*'([^']+)'/gm
const dynamic = /\bimport\('([^']+)'\)/g

export const importsOf = ({ path, text }: Source): readonly Import[] => [
  ...[...text.matchAll(statement)].map(([, type, to = '']) => ({
    to: resolve(path, to),
    typeOnly: type !== undefined,
    later: false,
  })),
  ...[...text.matchAll(dynamic)].map(([, to = '']) => ({ to: resolve(path, to), typeOnly: false, later: true })),
]

const resolve = (path: string, to: string): string => (to.startsWith('.') ? normalize(join(dirname(path), to)) : to)

/** Code without its comments. A path in quotes may end with a wildcard, which begins none. */
export const codeOf = ({ text }: Source): string =>
  text.replace(/(?<![\w'])\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')

/** The `exports` of the package: the source file for each subpath. */
export const doors = (): ReadonlyMap<string, string> => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { default: string }>
  }
  return new Map(
    Object.entries(exports).flatMap(([subpath, target]) =>
      typeof target === 'string'
        ? []
        : [[subpath, join(root, target.default.replace(/^\.\/dist\/(.*)\.js$/, '$1.ts'))] as const],
    ),
  )
}
