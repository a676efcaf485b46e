import type { PageTexts } from './page-texts.ts'

/** The parts of Bun's bundler that are used: https://bun.com/docs/bundler. */
interface Bundler {
  build(options: {
    readonly entrypoints: string[]
    readonly files: Readonly<Record<string, string>>
    readonly plugins: {
      readonly name: string
      setup(build: {
        onResolve(on: { filter: RegExp }, resolve: (found: { path: string }) => { path: string } | undefined): void
      }): void
    }[]
    readonly target: 'browser'
    readonly minify: true
    readonly splitting: true
    readonly naming: { readonly entry: string; readonly chunk: string }
  }): Promise<{ readonly outputs: { readonly path: string; readonly kind: string; text(): Promise<string> }[] }>
}

const { Bun: bun } = globalThis as { Bun?: Bundler }

/** Where the files seem to be. They exist only in memory, so this also works in a bundled or compiled server. */
const folder = '/console-page/'

/**
 * Bundles the page: one script for the first screen, one for each module that is loaded when it is needed, and one
 * style sheet. Their names contain hashes of their contents. Undefined where the runtime has no bundler.
 */
export const bundle = async ({ files, script, styles, libraries = {} }: PageTexts): Promise<PageTexts | undefined> => {
  if (!bun) return undefined
  const { outputs } = await bun.build({
    entrypoints: [folder + script, folder + styles],
    files: Object.fromEntries(Object.entries(files).map(([name, text]) => [folder + name, text])),
    plugins: [
      {
        name: 'libraries',
        setup(build) {
          build.onResolve({ filter: /^[^./]/ }, ({ path }) =>
            Object.hasOwn(libraries, path) ? { path: `${folder}${libraries[path]}` } : undefined,
          )
        },
      },
    ],
    target: 'browser',
    minify: true,
    splitting: true,
    naming: { entry: '[name]-[hash].[ext]', chunk: '[name]-[hash].[ext]' },
  })
  const texts = await Promise.all(outputs.map(async (file) => [nameOf(file), await file.text()] as const))
  const entry = outputs.find(({ kind }) => kind === 'entry-point')
  const sheet = outputs.find(({ path }) => path.endsWith('.css'))
  if (!entry || !sheet) throw new Error(`the bundle of the console has no ${entry ? styles : script}`)
  return {
    ...{ files: Object.fromEntries(texts), script: nameOf(entry), styles: nameOf(sheet) },
    ...{ preloaded: [], hashed: true },
  }
}

const nameOf = ({ path }: { readonly path: string }): string => path.replace(/^\.\//, '')
