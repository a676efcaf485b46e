import { type ChildProcess, spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { findBundle, serverBundle } from '../../src/server/bundle.ts'
import { checkRemoteServer } from './checked-servers.ts'
import { oncePerRun } from './once-per-run.ts'

/** The project's folder. */
export const root = new URL('../../', import.meta.url).pathname

export interface ServerProcess {
  /** Its base URL. */
  readonly url: string
  readonly pid: number
  /** Its standard output and standard error so far. */
  readonly stdout: () => string
  readonly stderr: () => string
  /** Resolves with the exit status. Null: a signal ended it. */
  readonly ended: Promise<number | null>
  kill(signal: NodeJS.Signals): Promise<number | null>
}

/** The server process ended before it listened. */
export class NotListening extends Error {
  constructor(
    readonly status: number | null,
    readonly stdout: string,
    readonly stderr: string,
  ) {
    super(`the server ended with ${status} before it listened: ${stderr}`)
  }
}

const running = new Set<ChildProcess>()
// No server outlives the test process.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** In a new checkout, each of the first servers would build the bundle that all start from. */
const buildBundle = () =>
  oncePerRun('server-bundle', async () => {
    if (findBundle(serverBundle)) return
    const building = spawn(process.execPath, ['src/server/bundle.ts'], { cwd: root, stdio: 'inherit' })
    await new Promise((resolve) => building.on('close', resolve))
  })

const commands = {
  bun: () => [process.execPath, 'src/server/start.ts'],
  deno: (flags: readonly string[]) => [denoBinary(), 'run', ...flags, 'src/server.ts'],
} as const

/** The binary of Deno. The wrapper script of the npm package does not forward signals. */
export const denoBinary = (): string => {
  const [found] = globSync('node_modules/@deno/*/deno', { cwd: root })
  if (!found) throw new Error('deno is not installed')
  return found
}

export type Runtime = keyof typeof commands

/** Starts the default server in a process, on a free port. Rejects with `NotListening` when it ends before it listens. */
export const startServer = async (
  environment: Record<string, string | undefined>,
  runtime: Runtime = 'bun',
  denoFlags: readonly string[] = ['-A'],
): Promise<ServerProcess> => {
  if (runtime === 'bun') await buildBundle()
  const [program = '', ...args] = commands[runtime](denoFlags)
  const child = spawn(program, args, {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NO_COLOR: '1',
      PORT: '0',
      LOG_LEVEL: 'warn',
      DRAIN_GRACE_SECONDS: '0',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let isListening = false
  let stdout = ''
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const ended = new Promise<number | null>((resolve) =>
    child.on('close', (status) => {
      running.delete(child)
      resolve(status)
    }),
  )
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      stdout += chunk
      const url = /^sluice listening on (http\S+)$/m.exec(stdout)?.[1]
      if (!url || isListening) return
      isListening = true
      const server: ServerProcess = {
        url,
        pid: child.pid ?? 0,
        stdout: () => stdout,
        stderr: () => stderr,
        ended,
        kill: (signal) => {
          child.kill(signal)
          return ended
        },
      }
      const { MEDIA_SEGMENT: segment, MEDIA_UPSTREAM_KIND: kind } = environment
      void checkRemoteServer(url, { segment, hasCallback: kind === 'ark' }).then(() => resolve(server), reject)
    })
    void ended.then((status) => reject(new NotListening(status, stdout, stderr)))
  })
}
