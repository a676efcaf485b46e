/** Runs with `--all`: processes of released agents, which use the MCP server. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ScenarioStep } from '../../src/emulator/index.ts'
import { png } from '../mcp/fixture.ts'
import { until } from '../support/until.ts'
import { MODEL } from '../video-generation/fixture.ts'
import { type AgentFixture, type AgentRun, models, openAgentFixture, timeoutMs } from './fixture.ts'
import { type AgentName, describeAgent } from './released.ts'

const toolNames = [
  ...['find_assets', 'create_upload_link', 'create_asset'],
  ...['price_video', 'create_video', 'wait_for_video'],
]

/** What the model does: from an asset of the library to a video in the working folder. */
const stepsFrom = (
  tool: (name: string, input: object) => ScenarioStep,
  shell: (command: string) => ScenarioStep,
): readonly ScenarioStep[] => {
  const video = { model: MODEL, prompt: 'she waves', duration: 4, resolution: '480p' }
  const priced = { ...video, reference_images: ['{output.address}'] }
  return [
    tool('find_assets', { name: 'first' }),
    tool('create_video', priced),
    tool('create_video', { ...priced, confirm: '{output.confirm}' }),
    tool('wait_for_video', { video_id: '{output.video_id}' }),
    shell("curl -sS -o video.mp4 '{output.video_url}'"),
    { say: 'The video is {output.video_id}.' },
  ]
}

/** What the model does: from a picture in the working folder to a video in the working folder, and kept by the gateway. */
const stepsWith = (
  tool: (name: string, input: object) => ScenarioStep,
  shell: (command: string) => ScenarioStep,
): readonly ScenarioStep[] => {
  const video = { model: MODEL, prompt: 'she waves', first_frame: '{output.address}', duration: 4, resolution: '480p' }
  return [
    tool('create_upload_link', {}),
    // The link is the credential: the shell has none.
    shell("curl -sS -T picture.png '{output.upload_link}'"),
    tool('create_asset', { url: '{output.url}', name: 'a picture' }),
    tool('price_video', video),
    tool('create_video', video),
    tool('create_video', { ...video, confirm: '{output.confirm}' }),
    tool('wait_for_video', { video_id: '{output.video_id}' }),
    shell("curl -sS -o video.mp4 '{output.video_url}'"),
    { say: 'The video is {output.video_id}.' },
  ]
}

/** Neither agent knows more of the MCP server than its address and the token. */
const agents: Readonly<Partial<Record<AgentName, AgentCase>>> = {
  'claude-code': {
    steps: (flow) => [
      // It shows the model tools of MCP servers when the model has searched for them.
      { call: 'ToolSearch', arguments: { query: `select:${toolNames.map((name) => `mcp__sluice__${name}`)}` } },
      ...flow(
        (name, input) => ({ call: `mcp__sluice__${name}`, arguments: input }),
        (command) => ({ call: 'Bash', arguments: { command, description: 'curl' } }),
      ),
    ],
    run: (url, token) => ({
      args: ['--dangerously-skip-permissions', '--mcp-config', '../mcp.json', '-p', 'Make the video.'],
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_MODEL: models[0],
        ANTHROPIC_AUTH_TOKEN: token,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        IS_SANDBOX: '1',
      },
      files: {
        'mcp.json': JSON.stringify({
          mcpServers: { sluice: { type: 'http', url: `${url}/mcp`, headers: { Authorization: `Bearer ${token}` } } },
        }),
      },
    }),
  },
  codex: {
    steps: (flow) =>
      flow(
        (name, input) => ({ call: name, namespace: 'mcp__sluice', arguments: input }),
        (cmd) => ({ call: 'exec_command', arguments: { cmd } }),
      ),
    run: (url, token) => ({
      args: ['exec', '--skip-git-repo-check', '--json', 'Make the video.'],
      env: { SLUICE_KEY: token },
      files: {
        '.codex/config.toml': `
          model = "${models[0]}"
          model_provider = "sluice"
          approval_policy = "never"
          sandbox_mode = "danger-full-access"
          check_for_update_on_startup = false
          analytics.enabled = false
          [model_providers.sluice]
          name = "sluice"
          base_url = "${url}/v1"
          env_key = "SLUICE_KEY"
          wire_api = "responses"
          request_max_retries = 0
          stream_max_retries = 0
          [mcp_servers.sluice]
          url = "${url}/mcp"
          bearer_token_env_var = "SLUICE_KEY"
          # Otherwise the only turn of "exec" may begin before the tools are listed, on a busy machine.
          required = true`,
      },
    }),
  },
}

interface AgentCase {
  readonly steps: (flow: typeof stepsWith) => readonly ScenarioStep[]
  readonly run: (url: string, token: string) => AgentRun
}

for (const [agent, { steps, run }] of Object.entries(agents) as [AgentName, AgentCase][]) {
  describeAgent(agent, () => {
    for (const runtime of ['bun', 'deno'] as const) {
      describe(`before the default server on ${runtime}`, () => {
        let fixture: AgentFixture
        beforeAll(async () => {
          fixture = await openAgentFixture(runtime)
          fixture.play({ when: 'Make the video', steps: steps(stepsWith) })
        }, 300_000)
        afterAll(() => fixture[Symbol.asyncDispose]())

        test(
          'goes from a local picture to a kept video with only an address and a token',
          async () => {
            const { args, env, files } = run(fixture.url('native'), fixture.token)
            const pictured = { ...files, 'work/picture.png': png }
            const { said, files: written } = await fixture.run(agent, { args, env, files: pictured })
            const id = /The video is (cgt-[\w-]+)\./.exec(said)?.[1]
            expect({ said, id }).toEqual({ said, id: expect.any(String) })
            // The file that the agent has downloaded is a video, and the gateway keeps it for its user.
            expect(written['video.mp4']?.slice(4, 8)).toBe('ftyp')
            const tasks = `${fixture.url('native')}/api/v3/contents/generations/tasks`
            const response = await fetch(`${tasks}/${id}`, { headers: { authorization: `Bearer ${fixture.token}` } })
            const { status, content } = (await response.json()) as { status: string; content: { video_url: string } }
            expect([status, content.video_url]).toEqual(['succeeded', expect.stringContaining('/api/files/results/')])
            expect(fixture.videoTasks()).toEqual([expect.objectContaining({ duration: 4, resolution: '480p' })])
          },
          timeoutMs,
        )
      })
    }

    test(
      'makes a video of an asset that has lost its slot',
      async () => {
        await using fixture = await openAgentFixture('bun', { MEDIA_ASSET_SLOTS: '1', MCP_CONFIRM_ABOVE: '0' })
        fixture.play({ when: 'Make the video', steps: steps(stepsFrom) })
        const url = fixture.url('native')
        const authorization = `Bearer ${fixture.token}`
        const post = async (path: string, body: string | Uint8Array<ArrayBuffer>, type = 'application/json') => {
          const headers = { authorization, 'content-type': type }
          const response = await fetch(url + path, { method: 'POST', headers, body })
          return (await response.json()) as { readonly Result: { readonly Id: string }; upload: { url: string } }
        }
        const group = await post('/api/media/proxy/assets/groups', JSON.stringify({ Name: 'people' }))
        const ids: string[] = []
        for (const Name of ['the first', 'the second']) {
          const { upload } = await post('/api/uploads', png, 'image/png')
          const asset = { GroupId: group.Result.Id, URL: upload.url, AssetType: 'Image', Name }
          const { Id } = (await post('/api/media/proxy/assets', JSON.stringify(asset))).Result
          ids.push(Id)
          await until(async () => {
            const detail = await fetch(`${url}/api/media/proxy/assets/${Id}`, { headers: { authorization } })
            return (await detail.text()).includes('"Active"')
          })
        }
        expect(ids.map(fixture.hasAsset)).toEqual([false, true])
        const { args, env, files } = run(url, fixture.token)
        const { said, files: written } = await fixture.run(agent, { args, env, ...(files && { files }) })
        expect({ said, id: /The video is (cgt-[\w-]+)\./.exec(said)?.[1] }).toEqual({ said, id: expect.any(String) })
        expect(written['video.mp4']?.slice(4, 8)).toBe('ftyp')
        expect(ids.map(fixture.hasAsset)).toEqual([true, false])
      },
      timeoutMs,
    )
  })
}
