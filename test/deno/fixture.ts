import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { doors } from '../elegance/sources.ts'
import { denoBinary, root } from '../support/server.ts'
import type { ServerFixture } from '../support/server-fixture.ts'

/** The page, with the shell's quotes and line continuations removed. */
const page = readFileSync(join(root, 'src/deno.md'), 'utf8')
  .replaceAll(/'(--[^']*)'/g, '$1')
  .replaceAll('\\\n', ' ')

/** The page as it is for a clone of the repository, by its table of package and clone. */
const clonePage = [...page.matchAll(/^\| `(node_modules\/sluice\/[^`]+)` \| `([^`]+)` \|$/gm)].reduce(
  (text, [, packaged = '', clone = '']) => text.replaceAll(packaged, clone),
  page,
)

/** The flags of each command of the page `src/deno.md` that runs a program of a clone, in the order of the page. */
export const commandsOf = (program: string): readonly (readonly string[])[] => flagsBefore(program, clonePage)

/** The same for a command of the installed package: `start` or `admin`. */
export const packageCommandsOf = (command: string): readonly (readonly string[])[] =>
  flagsBefore(`node_modules/sluice/dist/sluice.js ${command}`, page)

const flagsBefore = (program: string, text: string): readonly (readonly string[])[] =>
  [...text.matchAll(/```sh\n([\s\S]*?)```/g)]
    .map(([, block = '']) => block.trim().replaceAll(/\s+/g, ' '))
    .filter((block) => `${block} `.includes(` ${program} `))
    .map((block) => block.slice(block.indexOf(' run ') + 5, block.indexOf(` ${program}`)).split(' '))

/** The flags that the page's table of examples says beside Elysia's own. */
export const flagsOfExample = (name: string): readonly string[] => {
  const rows = [...clonePage.matchAll(/^\| ((?:`[\w-]+`(?:, )?)+) \| `(--[^|]+)` \|/gm)]
  if (rows.length === 0) throw new Error('the page has no table of examples')
  const further = rows.find(([, names = '']) => names.includes(`\`${name}\``))?.[2]?.split(' ') ?? []
  const [elysia = ''] = /--allow-env=NODE_ENV[\w,]*/.exec(page.slice(page.indexOf('## Plugins'))) ?? []
  return ['--no-prompt', elysia, ...further]
}

/** A grant: the permission, and the value that limits it. */
interface Grant {
  readonly permission: string
  readonly value: string | undefined
}

const grantsOf = (flags: readonly string[]): readonly Grant[] =>
  flags.flatMap((flag): readonly Grant[] => {
    const [, permission, values] = /^--allow-([a-z]+)(?:=(.*))?$/.exec(flag) ?? []
    if (permission === undefined) return []
    return values?.split(',').map((value) => ({ permission, value })) ?? [{ permission, value: undefined }]
  })

/** The flags, with other values in the place of those of the page. Relative paths become absolute ones. */
export const withValues = (flags: readonly string[], values: Readonly<Record<string, string>>): readonly string[] =>
  flags.map((flag) => {
    const [name = '', list] = flag.split('=')
    const mapped = list?.split(',').map((value) => values[value] ?? value)
    return mapped === undefined ? name : `${name}=${mapped.join(',')}`
  })

/** The hosts and folders of a test, in the place of those of the page. */
export const valuesOf = ({ environment, emulator }: ServerFixture) => {
  const { DATABASE_URL = '', STORAGE_URL = '' } = environment
  return {
    data: dirname(DATABASE_URL.slice('sqlite:'.length)),
    'data/storage': STORAGE_URL.slice('file:'.length),
    'database.example:5432': URL.parse(DATABASE_URL)?.host ?? '',
    'upstream.example:443': new URL(emulator.origin).host,
    '127.0.0.1:3000': '127.0.0.1:0',
  }
}

/** A file for `DENO_AUDIT_PERMISSIONS`, in which Deno writes each use of a permission. Disposing removes it. */
export const auditFile = () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-audit-'))
  return { path: join(folder, 'audit.jsonl'), [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}

interface Access {
  readonly permission: string
  readonly value: string | null
}

/** The grants among the flags that a program did not use, by the file that Deno has written for `DENO_AUDIT_PERMISSIONS`. */
export const unusedGrants = (flags: readonly string[], auditFile: string): readonly string[] => {
  const accesses = readFileSync(auditFile, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Access)
  return grantsOf(flags)
    .filter(
      ({ permission, value }) => !accesses.some((access) => access.permission === permission && uses(access, value)),
    )
    .map(({ permission, value }) => `${permission} ${value}`)
}

const uses = ({ permission, value }: Access, granted: string | undefined): boolean => {
  if (granted === undefined) return true
  if (value === null) return false
  if (permission === 'env' && granted.endsWith('*')) return value.startsWith(granted.slice(0, -1))
  if (permission === 'read' || permission === 'write')
    return `${resolve(root, value)}/`.startsWith(`${resolve(root, granted)}/`)
  // A host without a port stands for all its ports.
  if (permission === 'net') return `${URL.parse(value)?.host ?? value}:`.startsWith(`${granted}:`)
  return value === granted
}

/** Writes an import map for `--import-map`, with which a file of the project can import the package by its name. */
export const writeImportMap = (path: string): void => {
  const imports = [...doors()].map(([subpath, file]) => [`sluice${subpath.slice(1)}`, pathToFileURL(file).href])
  writeFileSync(path, JSON.stringify({ imports: Object.fromEntries(imports) }))
}

/** Runs a program on Deno: see `startProgram`. */
export const startDeno = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  startProgram([denoBinary(), 'run', ...args], environment)

/** A program that runs in the project's folder, or in another one. Disposing it ends it with SIGTERM. */
export const startProgram = (
  command: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  folder = root,
) => {
  const { PATH = '', HOME = '' } = process.env
  const child = Bun.spawn([...command], {
    cwd: folder,
    env: { PATH, HOME, NO_COLOR: '1', DRAIN_GRACE_SECONDS: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const errors = new Response(child.stderr).text()
  const reader = child.stdout.getReader()
  const decoder = new TextDecoder()
  let output = ''
  const readMore = async (): Promise<boolean> => {
    const { done, value } = await reader.read()
    output += decoder.decode(value)
    return !done
  }
  return {
    /** Resolves when the standard output matches; rejects with the standard error when it ends before. */
    async printed(pattern: RegExp): Promise<RegExpExecArray> {
      for (;;) {
        const found = pattern.exec(output)
        if (found) return found
        if (!(await readMore())) throw new Error(`it printed ${output} and ${await errors}`)
      }
    },
    /** Resolves when it has ended, with the exit status and everything it has printed. */
    async ended() {
      while (await readMore());
      return { status: await child.exited, output: output.trim(), errors: (await errors).trim() }
    },
    stop: () => child.kill('SIGTERM'),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}
