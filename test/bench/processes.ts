import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onProcessors } from './processors.ts'

/** A process that the benchmark has started. */
export interface Started {
  readonly pid: number
  /** Its base URL. */
  readonly url: string
  /** CPU time (user and system) of it and its children since the start. In milliseconds. */
  cpuMs(): number
  /** The part of it that compiled JavaScript. Of Linux and Bun; elsewhere 0. */
  compilingMs(): number
  /** Resident memory of it and its children. In bytes. */
  memory(): number
  /** Resolves when it has ended. */
  stop(): Promise<void>
}

const children = new Set<Bun.Subprocess>()
const folders = new Set<string>()

/** Ends all started processes with their children, and removes the temporary folders. */
export const cleanUp = (): void => {
  kill([...children].map(({ pid }) => pid))
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}

process.on('exit', cleanUp)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const kill = (pids: readonly number[]): void => {
  for (const pid of pids.flatMap(tree)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // The process has already ended.
    }
  }
}

/** Creates a temporary folder. `cleanUp` removes it. */
export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  folders.add(folder)
  return folder
}

export interface StartOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Finds the URL in the output of the process. Default: the first line. */
  readonly listening?: RegExp
  /** The port of a process that does not print its URL. */
  readonly port?: number
  /** On which it runs only. Default: all. */
  readonly processors?: readonly number[]
}

/** Starts a process, and resolves when it listens. */
export const start = async (command: readonly string[], options: StartOptions = {}): Promise<Started> => {
  const { cwd, env, listening = /^(http\S+)$/m, port, processors } = options
  const child = Bun.spawn(onProcessors(processors, command), {
    cwd,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      NO_COLOR: '1',
      DRAIN_GRACE_SECONDS: '0',
      ...env,
    },
    stdio: ['ignore', port === undefined ? 'pipe' : 'ignore', port === undefined ? 'inherit' : 'ignore'],
  })
  children.add(child)
  void child.exited.then(() => children.delete(child))
  const url = child.stdout ? await said(child.stdout, listening) : await listeningOn(port ?? 0, child)
  if (url === undefined) throw new Error(`${command.join(' ')} ended before it listened`)
  return {
    pid: child.pid,
    url,
    cpuMs: () => sum(tree(child.pid), cpuMs),
    compilingMs: () => sum(tree(child.pid), compilingMs),
    memory: () => sum(tree(child.pid), memory),
    async stop() {
      kill([child.pid])
      await child.exited
    },
  }
}

const listeningOn = async (port: number, child: Bun.Subprocess): Promise<string | undefined> => {
  while (child.exitCode === null && child.signalCode === null) {
    const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } }).catch(() => undefined)
    socket?.end()
    if (socket) return `http://127.0.0.1:${port}`
    await Bun.sleep(2)
  }
  return undefined
}

/** A port that is free now. */
export const freePort = (): number => {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = listener
  listener.stop(true)
  return port
}

export interface Worker<Job, Result> {
  ask(job: Job): Promise<Result>
  stop(): void
}

/** Options of `startWorker`. */
export interface WorkerOptions extends Pick<StartOptions, 'processors'> {
  /** How much less processor time it gets than other processes (nice(1), 0 to 19). Default 0. */
  readonly niceness?: number
}

/** Starts a script of this folder that reads each job as one line and prints each result as one line. */
export const startWorker = <Job, Result>(script: string, options: WorkerOptions = {}): Worker<Job, Result> => {
  const { niceness = 0, processors } = options
  const command = ['nice', '-n', String(niceness), process.execPath, join(import.meta.dir, script)]
  const child = Bun.spawn(onProcessors(processors, command), { stdio: ['pipe', 'pipe', 'inherit'] })
  children.add(child)
  void child.exited.then(() => children.delete(child))
  const lines = linesOf(child.stdout)
  return {
    async ask(job) {
      child.stdin.write(`${JSON.stringify(job)}\n`)
      child.stdin.flush()
      const { value } = await lines.next()
      if (value === undefined) throw new Error(`${script} ended`)
      return JSON.parse(value) as Result
    },
    stop: () => child.kill('SIGKILL'),
  }
}

async function* linesOf(output: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of output) {
    text += decoder.decode(chunk, { stream: true })
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    yield* lines
  }
  return undefined
}

const said = async (output: ReadableStream<Uint8Array>, wanted: RegExp): Promise<string | undefined> => {
  const lines = linesOf(output)
  for (let line = await lines.next(); !line.done; line = await lines.next()) {
    const found = wanted.exec(line.value)?.[1]
    if (found === undefined) continue
    // Discards later output, so that the pipe does not fill up.
    void (async () => {
      for await (const _ of lines);
    })()
    return found
  }
  return undefined
}

const sum = <Id>(ids: readonly Id[], of: (id: Id) => number): number => ids.reduce((total, id) => total + of(id), 0)

const linux = process.platform === 'linux'

/** A process and all its descendants. */
const tree = (pid: number): readonly number[] => {
  const parents = new Map<number, number>()
  if (linux) {
    for (const name of readdirSync('/proc')) {
      if (/^\d+$/.test(name)) parents.set(Number(name), Number(fieldsOf(Number(name))[1] ?? 0))
    }
  } else {
    for (const [child, parent] of ps('-A', '-o', 'pid=,ppid=')) parents.set(Number(child), Number(parent))
  }
  const found = [pid]
  for (const each of found) {
    for (const [child, parent] of parents) if (parent === each) found.push(child)
  }
  return found
}

/** The fields of /proc/PID/stat from the third on (proc_pid_stat(5)). Empty: the process or thread has ended. */
const fieldsOf = (pid: number | string): readonly string[] => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(') ') + 2).split(' ')
  } catch {
    return []
  }
}

/** The CPU time of the threads in which JavaScriptCore compiles. */
const compilingMs = (pid: number): number => {
  if (!linux) return 0
  try {
    const compilers = readdirSync(`/proc/${pid}/task`).map((thread) => `${pid}/task/${thread}`)
    return sum(
      compilers.filter((thread) => readFileSync(`/proc/${thread}/comm`, 'utf8').startsWith('JITWorker')),
      cpuMs,
    )
  } catch {
    return 0
  }
}

const cpuMs = (pid: number | string): number => {
  if (linux) {
    const fields = fieldsOf(pid)
    // A tick is 10 ms on every Linux that Bun supports.
    return 10 * (Number(fields[11] ?? 0) + Number(fields[12] ?? 0))
  }
  const [[time = '0'] = []] = ps('-o', 'time=', '-p', String(pid))
  return 1_000 * time.split(/[-:]/).reduce((total, part) => total * 60 + Number(part), 0)
}

const memory = (pid: number): number => {
  const [[kilobytes = '0'] = []] = linux ? [[statusOf(pid)]] : ps('-o', 'rss=', '-p', String(pid))
  return 1_024 * Number(kilobytes)
}

const statusOf = (pid: number): string => {
  try {
    return /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0'
  } catch {
    return '0'
  }
}

const ps = (...args: readonly string[]): readonly (readonly string[])[] =>
  Bun.spawnSync(['ps', ...args])
    .stdout.toString()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
