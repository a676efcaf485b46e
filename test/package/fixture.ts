import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { oncePerRun } from '../support/once-per-run.ts'
import { denoBinary } from '../support/server.ts'

export const root = join(import.meta.dir, '../..')

export interface Result {
  readonly status: number | null
  /** Standard output and standard error, without their last line end. */
  readonly output: string
}

/** Runs a program to its end. */
export const run = (
  folder: string,
  [program = '', ...args]: readonly string[],
  environment: Record<string, string> = {},
): Promise<Result> =>
  new Promise((resolve, reject) => {
    const env = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NO_COLOR: '1',
      DRAIN_GRACE_SECONDS: '0',
      ...environment,
    }
    const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      // Else a character at the end of one chunk and the beginning of the next is lost.
      stream.setEncoding('utf8').on('data', (chunk) => {
        output += chunk
      })
    }
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, output: output.trimEnd() }))
  })

/** The commands that run a file on each runtime. */
export const runtimes = {
  bun: () => [process.execPath],
  deno: () => [join(root, denoBinary()), 'run', '--no-lock', '-A'],
} as const

const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: readonly string[] }

/** Made once in a run of the tests: a copy of the project with the tarball, and the package as the tarball has it. */
const packOnce = (): Promise<string> => oncePerRun('package', pack)

/** Packs a copy of the project, which runs `prepack`, and returns the path of the tarball. */
export const packed = async (): Promise<string> => join(await packOnce(), 'project/sluice.tgz')

const pack = async (folder: string): Promise<void> => {
  const copy = join(folder, 'project')
  const sources = files.filter((file) => file !== 'dist' && !file.startsWith('!'))
  for (const name of [...sources, 'package.json', 'bun.lock', 'tsconfig.json', 'tsconfig.build.json']) {
    cpSync(join(root, name), join(copy, name), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  await mustRun(copy, [process.execPath, 'pm', 'pack', '--filename', 'sluice.tgz'])
  await mustRun(folder, ['tar', '-xzf', 'project/sluice.tgz'])
}

const mustRun = async (folder: string, command: readonly string[]): Promise<void> => {
  const { status, output } = await run(folder, command)
  if (status !== 0) throw new Error(output)
}

/** A new project in which the package is installed, with these packages next to it. */
export interface Consumer {
  readonly folder: string
  /** Path of the installed package. */
  readonly package: string
  write(file: string, content: string): void
}

/**
 * Creates a project that has installed the tarball and the named packages.
 *
 * It works without a network: the packages are links to those of the repository. What the tarball imports without declaring it is not found, because its
 * files are outside of the repository.
 */
export const createConsumer = async (...packages: readonly string[]): Promise<Consumer> => {
  const unpacked = join(await packOnce(), 'package')
  const folder = mkdtempSync(join(tmpdir(), 'sluice-package-'))
  const installed = join(folder, 'node_modules/sluice')
  mkdirSync(dirname(installed))
  // Links to the same files: nobody writes to an installed package.
  await mustRun(folder, ['cp', '-al', unpacked, installed])
  for (const name of packages) {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  }
  const write = (file: string, content: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), content)
  }
  write('package.json', JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
  return { folder, package: installed, write }
}

/** The peers that every project installs: `bun add sluice elysia` adds both. */
export const requiredPeers = ['elysia', '@sinclair/typebox'] as const

/** The `package.json` of an installed package. */
export const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
    readonly peerDependencies: Readonly<Record<string, string>>
    readonly dependencies?: Readonly<Record<string, string>>
    readonly bin: Readonly<Record<string, string>>
  }

/** The import specifiers of the package, without those of files that are no modules. */
export const specifiersOf = (folder: string): readonly string[] =>
  Object.entries(manifestOf(folder).exports).flatMap(([subpath, target]) =>
    typeof target === 'string' ? [] : [`sluice${subpath.slice(1)}`],
  )

/** The exports of the package, with the source files that they are compiled from. */
export const sourcesOf = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(manifestOf(folder).exports).flatMap(([subpath, target]) =>
      typeof target === 'string' ? [] : [[subpath, target.default.replace(/^\.\/dist\/(.*)\.js$/, './$1.ts')] as const],
    ),
  )

/** The first block of the README in that language that starts with that text. */
export const readmeBlock = (language: string, start = ''): string => {
  const text = readFileSync(join(root, 'README.md'), 'utf8')
  const block = new RegExp(`\`\`\`${language}\\n(${start}[\\s\\S]*?)\`\`\``).exec(text)?.[1]
  if (block === undefined) throw new Error(`the README has no block of ${language}`)
  return block
}

/** The addresses of the files that the page of the console names. Their names contain a hash. */
export const consoleFilesOf = async (url: string): Promise<readonly string[]> => {
  const page = await (await fetch(`${url}/console`)).text()
  const files = [...page.matchAll(/(?:src|href)="\.(\/console\/[^"]+\.(?:js|css))"/g)].map(([, path = '']) => path)
  if (files.length < 2) throw new Error(`the console has too few files: ${page}`)
  return files
}
