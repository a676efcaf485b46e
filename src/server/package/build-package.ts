/** `bun run build`: creates `dist`, the part of the published package that runs. Needs the development dependencies. */
import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readPageTexts } from '../../../plugins/console/read-page-texts.ts'
import { type PackageManifest, sbomOf } from './sbom.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const dist = join(root, 'dist')

/** Compiles every module that an entry of the package reaches, one by one, with declarations and source maps. */
const compile = (): void => {
  const { exitCode } = Bun.spawnSync([process.execPath, 'x', 'tsc', '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (exitCode !== 0) process.exit(1)
}

/**
 * A module in place of `read-page-texts.ts`, with the bundled page: the package needs neither the page's files and
 * libraries nor a bundler.
 */
const bundledPage = async (): Promise<string> => {
  // The bundler mixes the path from the working directory into the names of the page's files.
  process.chdir('/')
  const page = await readPageTexts()
  process.chdir(root)
  if (!page.hashed) throw new Error('the page of the console is not bundled')
  return `export const readPageTexts = async () => (${JSON.stringify(page)})\n`
}

/** The libraries that the page contains. */
const pageLibraries = async (): Promise<readonly string[]> => {
  const source = await readFile(join(root, 'plugins/console/texts/libraries.ts'), 'utf8')
  return [...source.matchAll(/'\.\.\/\.\.\/\.\.\/(node_modules\/[^']+)'/g)].map(([, path = '']) => join(root, path))
}

/**
 * Bundles the command `sluice` with all its dependencies, so that the server needs no package beside this one, and runs
 * with the versions that it was tested with. Returns the paths of the files whose code it contains.
 */
const bundleCommand = async (page: string): Promise<readonly string[]> => {
  const { metafile } = await Bun.build({
    entrypoints: [join(root, 'src/cli.ts')],
    outdir: dist,
    naming: 'sluice.js',
    // Both runtimes run it. With `bun`, it would contain builds of dependencies for Bun only.
    target: 'node',
    banner: '#!/usr/bin/env bun',
    define: { 'import.meta.main': 'false' },
    metafile: true,
    plugins: [
      {
        name: 'package',
        setup: (build) =>
          void build.onLoad({ filter: /\/console\/read-page-texts\.ts$/ }, () => ({ contents: page, loader: 'js' })),
      },
    ],
  })
  const command = join(dist, 'sluice.js')
  await writeFile(command, withoutBuildFolder(await readFile(command, 'utf8')))
  await chmod(command, 0o755)
  if (!metafile) throw new Error('the bundler has not said what the bundle contains')
  // Not the modules that it has read, and of which nothing is used.
  return Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs).map((path) => join(root, path)))
}

/**
 * CommonJS modules in a bundle name the folder in which they were, and the comment above a module names it too where
 * `node_modules` is a link. Without both, the package of a commit is the same wherever it is built.
 */
const withoutBuildFolder = (text: string): string =>
  text
    .replace(/^(\s*var __(?:dir|file)name = ")[^"]*(\/node_modules\/[^"]*")/gm, '$1$2')
    .replace(/^\/\/ \.\.\/.*?(?=node_modules\/)/gm, '// ')

/** The folders of the packages that these files belong to. */
const foldersOf = (paths: readonly string[]): readonly string[] =>
  [...new Set(paths.flatMap((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []))].sort()

const manifestOf = async (folder: string): Promise<PackageManifest> =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))

/** The license of a package, which demands that a copy comes with every copy of the software. */
const licenseOf = async (folder: string): Promise<string> => {
  const { name, version, license } = await manifestOf(folder)
  const file = (await readdir(folder)).find((file) => /^(?:un)?licen[cs]e/i.test(file))
  const text = file === undefined ? '' : await readFile(join(folder, file), 'utf8')
  return `${name} ${version} (${license})\n\n${text.trim()}`.trim()
}

await rm(dist, { recursive: true, force: true })
compile()
const page = await bundledPage()
const folder = join(dist, 'plugins/console')
await writeFile(join(folder, 'read-page-texts.js'), page)
// Without the map of the module that stood there, and without the modules that only that one imported.
await rm(join(folder, 'read-page-texts.js.map'))
for (const extension of ['js', 'js.map', 'd.ts', 'd.ts.map']) await rm(join(folder, `bundle.${extension}`))
await rm(join(folder, 'texts'), { recursive: true })
const packages = foldersOf([...(await pageLibraries()), ...(await bundleCommand(page))])
const licenses = await Promise.all(packages.map(licenseOf))
await writeFile(join(dist, 'THIRD-PARTY-LICENSES.txt'), `${licenses.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`)
const lock = await readFile(join(root, 'bun.lock'), 'utf8')
const sbom = sbomOf(await manifestOf(root), await Promise.all(packages.map(manifestOf)), lock)
await writeFile(join(dist, 'sbom.cdx.json'), sbom)
