/** Runs with `--all`: starts the whole demo. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'

setDefaultTimeout(300_000)

describe('the demo', () => {
  let child: ChildProcess
  let printed = ''
  let url: string
  let token: string
  let cookie: string
  beforeAll(async () => {
    child = spawn(process.execPath, ['src/demo.ts'], {
      cwd: join(import.meta.dir, '../..'),
      env: { PATH: process.env.PATH, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await new Promise<void>((resolve, reject) => {
      child.stdout?.on('data', (text) => {
        printed += text
        if (printed.includes('Ctrl-C stops everything.\n')) resolve()
      })
      child.once('exit', (status) => reject(new Error(`the demo ended with ${status}`)))
    })
    const [, address = '', password = ''] =
      /^Open (\S+) and log in as demo with the password (\S+)$/m.exec(printed) ?? []
    url = address
    token = /^ {2}token {5}(\S+)$/m.exec(printed)?.[1] ?? ''
    const login = await fetch(`${url}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'demo', password }),
    })
    cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
  })
  afterAll(async () => {
    child.removeAllListeners('exit')
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGINT')
    expect(await ended).toBe(0)
  })

  const ask = async (path: string, headers: Record<string, string> = { authorization: `Bearer ${token}` }) =>
    (await fetch(url + path, { headers })).json()

  test('prints one address to open, which leads to the console, and what codex needs', async () => {
    const response = await fetch(url)
    expect([response.status, response.url]).toEqual([200, `${url}/console`])
    expect(printed).toContain('npm install -g @openai/codex')
  })

  test('has a group with five assets, whose pictures are served', async () => {
    const { Result: groups } = (await ask('/api/media/proxy/assets/groups')) as {
      Result: { Items: { Name: string }[] }
    }
    expect(groups.Items.map(({ Name }) => Name)).toEqual(['Landscapes'])
    const { Result: assets } = (await ask('/api/media/proxy/assets')) as { Result: { Items: { URL: string }[] } }
    expect(assets.Items).toHaveLength(5)
    for (const { URL } of assets.Items) {
      const picture = await fetch(URL)
      expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png'])
      expect(
        Buffer.from(await picture.arrayBuffer())
          .subarray(1, 4)
          .toString(),
      ).toBe('PNG')
    }
  })

  test('has a video, and usage of text and videos with costs on a week of days', async () => {
    const tasks = (await ask('/api/v3/contents/generations/tasks')) as { items: { content?: object }[] }
    expect(tasks.items).toHaveLength(1)
    const { usage } = (await ask('/api/usage', { cookie })) as {
      usage: { day: string; cost: number; video_seconds: number | null }[]
    }
    expect(new Set(usage.map(({ day }) => day)).size).toBeGreaterThanOrEqual(7)
    expect(usage.every(({ cost }) => cost > 0)).toBe(true)
    expect(usage.some(({ video_seconds }) => video_seconds !== null)).toBe(true)
    const { limits } = (await ask('/api/limits')) as { limits: { unit: string }[] }
    expect(limits.map(({ unit }) => unit).sort()).toEqual(['cost', 'tokens', 'videos'])
  })

  test('shows operators the settings that it works with', async () => {
    const { settings } = (await ask('/api/admin/settings', { cookie })) as { settings: Record<string, unknown> }
    expect([settings.DATABASE_URL, settings.MEDIA_UPSTREAM_KIND, settings.TEXT_PRICES === null]).toEqual([
      ...[expect.stringMatching(/^sqlite:.*demo\.db$/), 'ark', false],
    ])
  })
})
