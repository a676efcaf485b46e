/** Runs with `--all`: processes of a released agent. test/clients has what the agents send. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ScenarioStep } from '../../src/emulator/index.ts'
import {
  type AgentFixture,
  type AgentResult,
  type AgentRun,
  openAgentFixture,
  timeoutMs,
  type UpstreamKind,
  upstreams,
} from './fixture.ts'
import { describeAgent } from './released.ts'

const patch = '*** Begin Patch\n*** Add File: two.txt\n+two\n*** End Patch\n'

const freeformSteps: readonly [ScenarioStep, ScenarioStep] = [
  { reason: 'First the one.', call: 'exec_command', arguments: { cmd: 'echo one > one.txt' } },
  { reason: 'Now the two.', call: 'apply_patch', input: patch },
]

/** Codex offers its tools in three ways, depending on what it knows of the model. The last text is what the last tool prints. */
const ways: readonly (readonly [title: string, model: string, steps: readonly ScenarioStep[], output: string])[] = [
  [
    'functions, also in a namespace, for a model that codex does not know',
    'emulated-reasoner',
    [
      { reason: 'First the one.', call: 'exec_command', arguments: { cmd: 'echo one > one.txt' } },
      {
        reason: 'Now the two.',
        calls: [
          { call: 'exec_command', arguments: { cmd: 'echo two > two.txt' } },
          { call: 'close_agent', namespace: 'multi_agent_v1', arguments: { target: 'nobody' } },
        ],
      },
    ],
    'invalid agent id nobody',
  ],
  ['functions and a freeform tool', 'gpt-5.5', freeformSteps, 'A two.txt'],
  [
    'freeform tools of a namespace, which the input contains',
    'gpt-6-sol',
    [
      {
        reason: 'First the one.',
        call: 'exec',
        namespace: 'functions',
        input: 'text(await tools.exec_command({ cmd: "echo one > one.txt" }))',
      },
      {
        reason: 'Now the two.',
        call: 'exec',
        namespace: 'functions',
        input: `text(await tools.apply_patch(${JSON.stringify(patch)}))`,
      },
    ],
    'Script completed',
  ],
]

/** The model gets its earlier reasoning back: as it has encrypted it, or as text that the gateway has encrypted for the agent. */
const reasoning = { native: ['encrypted', 'encrypted'], 'chat only': ['First the one.', 'Now the two.'] }

const written = { 'one.txt': 'one\n', 'two.txt': 'two\n' }

interface Turn extends Pick<AgentRun, 'home'> {
  readonly model: string
  readonly prompt?: string
  readonly webSockets?: boolean
}

describeAgent('codex', () => {
  for (const [runtime, kinds] of [
    ['bun', upstreams],
    ['deno', ['chat only']],
  ] as const) {
    describe(`before the default server on ${runtime}`, () => {
      let fixture: AgentFixture
      beforeAll(async () => {
        fixture = await openAgentFixture(runtime)
      }, 300_000)
      afterAll(() => fixture[Symbol.asyncDispose]())

      /** Codex works until the model calls no tool. With the home of an earlier turn, it continues that conversation. */
      const exec = (
        kind: UpstreamKind,
        { model, prompt = 'Write two files.', webSockets = false, home }: Turn,
      ): Promise<AgentResult> =>
        fixture.run('codex', {
          args: ['exec', ...(home ? ['resume', '--last'] : []), '--skip-git-repo-check', '--json', prompt],
          env: { SLUICE_KEY: fixture.token },
          home,
          files: {
            '.codex/config.toml': `
              model = "${model}"
              model_provider = "sluice"
              approval_policy = "never"
              sandbox_mode = "danger-full-access"
              check_for_update_on_startup = false
              analytics.enabled = false
              [model_providers.sluice]
              name = "sluice"
              base_url = "${fixture.url(kind)}/v1"
              env_key = "SLUICE_KEY"
              wire_api = "responses"
              request_max_retries = 0
              stream_max_retries = 0
              supports_websockets = ${webSockets}`,
          },
        })

      for (const kind of kinds) {
        describe(`with an upstream that is ${kind}`, () => {
          for (const [title, model, steps, output] of ways) {
            test(
              `works for three turns with tools: ${title}`,
              async () => {
                const last = { reason: 'Enough.', say: 'Both are written. The tool said: {output}' }
                fixture.play({ when: 'two files', steps: [...steps, last] })
                const { said, files } = await exec(kind, { model })
                expect(said).toContain('Both are written. The tool said: ')
                expect({ said, files }).toEqual({ said: expect.stringContaining(output), files: written })
                expect(fixture.returnedReasoning()).toEqual(reasoning[kind])
              },
              timeoutMs,
            )
          }

          test(
            'works with a second agent',
            async () => {
              const namespace = 'collaboration'
              const order = { task_name: 'second', message: 'Write a file.', fork_turns: 'none' }
              const input = 'text(await tools.exec_command({ cmd: "echo two > two.txt" }))'
              fixture.play(
                {
                  when: 'two files',
                  steps: [
                    { call: 'spawn_agent', namespace, arguments: order },
                    { call: 'wait_agent', namespace, arguments: { timeout_ms: 30_000 } },
                    { say: 'It is written.' },
                  ],
                },
                {
                  when: 'a file',
                  steps: [{ call: 'exec', namespace: 'functions', input }, { say: 'I have done it.' }],
                },
              )
              const { said, files } = await exec(kind, { model: 'gpt-6-sol' })
              const expected = { said: expect.stringContaining('It is written.'), files: { 'two.txt': 'two\n' } }
              expect({ said, files }).toEqual(expected)
            },
            timeoutMs,
          )

          test(
            'works over WebSocket',
            async () => {
              fixture.play({ when: 'two files', steps: [...freeformSteps, { say: 'Both are written.' }] })
              const { said, files } = await exec(kind, { model: 'gpt-5.5', webSockets: true })
              expect({ said, files }).toEqual({ said: expect.stringContaining('Both are written.'), files: written })
              // Codex would go on over HTTP.
              expect(said).not.toMatch(/websocket/i)
              expect(fixture.returnedReasoning()).toEqual(reasoning[kind])
            },
            timeoutMs,
          )

          test(
            'continues a conversation',
            async () => {
              const [first, second] = freeformSteps
              fixture.play({
                when: 'two files',
                steps: [first, { reason: 'Wait.', say: 'The one.' }, second, { say: 'The two.' }],
              })
              const model = 'gpt-5.5'
              const { home, said } = await exec(kind, { model })
              expect(said).toContain('The one.')
              const { said: saidThen, files } = await exec(kind, { model, home, prompt: 'Go on.' })
              expect({ saidThen, files }).toEqual({ saidThen: expect.stringContaining('The two.'), files: written })
              expect(fixture.returnedReasoning()).toHaveLength(3)
            },
            timeoutMs,
          )
        })
      }
    })
  }
})
