import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Call, Scenario } from '../../src/emulator/index.ts'
import type { Runtime, ServerProcess } from '../support/server.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { type AgentName, commandOf } from './released.ts'

/** What the upstream of the gateway speaks. */
export const upstreams = ['native', 'chat only'] as const
export type UpstreamKind = (typeof upstreams)[number]

/** How an agent is started. */
export interface AgentRun {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Files by their path below the home folder, in which the agent works in the folder `work`. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** The home folder of an earlier run, which this one continues. Default: a new one. */
  readonly home?: string
}

/** What an agent has done. */
export interface AgentResult {
  readonly home: string
  /** What it printed to standard output, then what it printed to standard error. */
  readonly said: string
  /** The files in its working folder by name, without hidden ones. */
  readonly files: Readonly<Record<string, string>>
}

/** Two default servers with the emulator as upstream: it speaks all protocols for one, and chat completions only for the other. Neither is told so. */
export interface AgentFixture extends AsyncDisposable {
  readonly url: (kind: UpstreamKind) => string
  /** The API token of a user. */
  readonly token: string
  /** Makes the model answer in conversations with these texts, step by step, and in no others. */
  play(...scenarios: readonly Scenario[]): void
  /**
   * The reasoning that the model has got back with the last upstream call, in order: its text, or `encrypted`. A request for a title has none.
   */
  returnedReasoning(): readonly string[]
  /** Whether the upstream has an asset with such a name now. */
  hasAsset(name: string): boolean
  /** The create requests of all videos that the upstream has made. */
  videoTasks(): readonly object[]
  /** Runs an agent to its end in a home folder of its own. Rejects with all that it said, unless it exits with status 0. */
  run(agent: AgentName, run: AgentRun): Promise<AgentResult>
}

/** A name that codex has its newest settings for, one for each of its kinds of tools. The emulator's models always reason. */
export const models = ['emulated-reasoner', 'gpt-5.5', 'gpt-6-sol'] as const

/** The longest that an agent may take. It is generous: nothing is measured against it. */
const maxMs = 240_000

/** The longest that a test may take, so that it can say what the agent has said until then. */
export const timeoutMs = 3 * maxMs

/** @param environment further variables of the servers */
export const openAgentFixture = async (
  runtime: Runtime = 'bun',
  environment: Readonly<Record<string, string>> = {},
): Promise<AgentFixture> => {
  const fixture = await openServerFixture('sqlite', {
    text: { msPerDelta: 0, models: models.map((id) => ({ id, reasoning: 'always' })) },
    video: { queuedMs: 0, runningMs: 100 },
  })
  const { text, video, calls } = fixture.emulator
  const start = (url: string) =>
    fixture.start(
      {
        ...{ TEXT_UPSTREAM_URL: url, TEXT_UPSTREAM_KEY: text.key },
        ...{ VIDEO_UPSTREAM_URL: video.url, VIDEO_UPSTREAM_KEY: video.key, VIDEO_POLL_SECONDS: '1' },
        ...{ VIDEO_PRICES: '{"*":{"tokens":1000}}' },
        ...environment,
      },
      runtime,
    )
  const servers: Record<UpstreamKind, ServerProcess> = {
    native: await start(text.url),
    'chat only': await start(text.chatOnlyUrl),
  }
  const { token } = await fixture.addUser('ann')
  const homes: string[] = []
  let firstCall = 0

  return {
    token,
    url: (kind) => servers[kind].url,
    play(...scenarios) {
      text.scenarios.clear()
      for (const scenario of scenarios) text.scenarios.add(scenario)
    },
    returnedReasoning: () =>
      calls
        .slice(firstCall)
        .map(reasoningIn)
        .findLast((all) => all.length > 0) ?? [],
    hasAsset: (part) => fixture.emulator.library.assets().some(({ name }) => name.includes(part)),
    videoTasks: () => video.tasks().map(({ body }) => body),
    async run(agent, { args, env, files = {}, home = mkdtempSync(join(tmpdir(), `sluice-${agent}-`)) }) {
      homes.push(home)
      const work = join(home, 'work')
      for (const [path, content] of Object.entries({ 'work/.keep': '', ...files })) {
        mkdirSync(dirname(join(home, path)), { recursive: true })
        writeFileSync(join(home, path), content)
      }
      firstCall = calls.length
      const { status, stdout, stderr } = await runProcess(commandOf(agent), args, work, {
        ...isolated(home),
        ...env,
      })
      if (status !== 0) {
        const logs = Object.entries(servers).map(([kind, { stderr }]) => `log of ${kind}:\n${stderr()}`)
        throw new Error(`${agent} ended with ${status}.\n${[stdout, stderr, ...logs].join('\n')}`)
      }
      return { home, said: stdout + stderr, files: filesIn(work) }
    },
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]()
      for (const home of homes) rmSync(home, { recursive: true, force: true })
    },
  }
}

/** The reasoning in the messages of a chat completion request, or in the items of a responses request. */
const reasoningIn = ({ json }: Call): readonly string[] => {
  const { messages = [], input = [] } = json as Readonly<Record<'messages' | 'input', readonly Reasoned[]>>
  return [...messages, ...input].flatMap(({ reasoning_content, type, encrypted_content }) =>
    type === 'reasoning' && encrypted_content ? 'encrypted' : (reasoning_content ?? []),
  )
}

interface Reasoned {
  readonly type?: string
  readonly reasoning_content?: string
  readonly encrypted_content?: string
}

/** The environment of an agent that knows nothing of this machine. It reaches only loopback addresses, whatever it reports and updates. */
const isolated = (home: string): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: home,
  NO_COLOR: '1',
  CI: '1',
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,localhost',
})

interface Ended {
  readonly status: number | string | null
  readonly stdout: string
  readonly stderr: string
}

const runProcess = (program: string, args: readonly string[], cwd: string, env: Record<string, string>) =>
  new Promise<Ended>((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk) => {
      stdout += chunk
    })
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    // With the processes that it has started.
    const kill = () => {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL')
      } catch {}
    }
    process.on('exit', kill)
    const timer = setTimeout(kill, maxMs)
    child.on('error', reject)
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      process.off('exit', kill)
      resolve({ status: code ?? signal, stdout, stderr })
    })
  })

const filesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => !name.startsWith('.') && statSync(join(folder, name)).isFile())
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  )
