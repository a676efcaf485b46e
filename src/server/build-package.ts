/** `bun run build`: creates `dist`, the part of the published package that runs. Needs the development dependencies. */
import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
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
 * Copies the texts that the console imports: its page, and its libraries, which the package must not need. Returns the
 * paths of the libraries.
 */
const copyConsole = async (): Promise<readonly string[]> => {
  const folder = join(dist, 'plugins/console')
  const texts = join(folder, 'texts.js')
  await cp(join(root, 'plugins/console/page'), join(folder, 'page'), {
    recursive: true,
    filter: (path) => !path.endsWith('tsconfig.json'),
  })
  await mkdir(join(folder, 'libraries'))
  const source = await readFile(texts, 'utf8')
  const imports = [...source.matchAll(/'(\.\.\/\.\.\/node_modules\/[^']+)'/g)].map(([, path = '']) => path)
  let packaged = source
  for (const path of imports) {
    const copy = `./libraries/${path.replace('../../node_modules/', '').replaceAll('/', '-')}`
    await cp(join(root, 'plugins/console', path), join(folder, copy))
    packaged = packaged.replace(path, copy)
  }
  await writeFile(texts, packaged)
  return imports.map((path) => join(root, 'plugins/console', path))
}

/**
 * Bundles the command `sluice` with all its dependencies, so that the server needs no package beside this one, and runs
 * with the versions that it was tested with. Returns the paths of the bundled files.
 */
const bundleCommand = async (): Promise<readonly string[]> => {
  const inputs: string[] = []
  await Bun.build({
    entrypoints: [join(root, 'src/cli.ts')],
    outdir: dist,
    naming: 'sluice.js',
    // Both runtimes run it. With `bun`, it would contain builds of dependencies for Bun only.
    target: 'node',
    banner: '#!/usr/bin/env bun',
    define: { 'import.meta.main': 'false' },
    plugins: [
      {
        name: 'package',
        setup(build) {
          build.onLoad({ filter: /./ }, ({ path }) => void inputs.push(path))
        },
      },
    ],
  })
  await chmod(join(dist, 'sluice.js'), 0o755)
  return inputs
}

/**
 * The licenses of the packages that these files belong to. They demand that a copy comes with every copy of the
 * software.
 */
const licensesOf = async (paths: readonly string[]): Promise<string> => {
  const folders = new Set(paths.flatMap((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []))
  const texts = await Promise.all([...folders].sort().map(licenseOf))
  return texts.join(`\n\n${'-'.repeat(80)}\n\n`)
}

const licenseOf = async (folder: string): Promise<string> => {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const file = (await readdir(folder)).find((file) => /^(?:un)?licen[cs]e/i.test(file))
  const text = file === undefined ? '' : await readFile(join(folder, file), 'utf8')
  return `${name} ${version} (${license})\n\n${text.trim()}`.trim()
}

await rm(dist, { recursive: true, force: true })
compile()
const bundled = [...(await copyConsole()), ...(await bundleCommand())]
await writeFile(join(dist, 'THIRD-PARTY-LICENSES.txt'), `${await licensesOf(bundled)}\n`)
