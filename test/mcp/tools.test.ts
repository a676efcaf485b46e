import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newAsset, newGroup } from '../routes/fixture.ts'
import { MODEL } from '../video-generation/fixture.ts'
import { eras, type McpClient, type McpFixture, openMcpFixture, png } from './fixture.ts'

for (const era of eras) {
  describe(`a client of the ${era} protocol`, () => {
    let fixture: McpFixture
    let ann: McpClient
    beforeAll(async () => {
      // A price of 0.0001 for a token.
      const costOf = (_task: object, { completionTokens = 0 }: { completionTokens?: number }) =>
        completionTokens * 100_000
      fixture = await openMcpFixture({ video: { runningMs: 0 }, gateway: { costOf } })
      ann = await fixture.connect(fixture.ann, { era })
    })
    afterAll(async () => {
      await ann[Symbol.asyncDispose]()
      await fixture[Symbol.asyncDispose]()
    })

    test('sees all tools, each with a schema that forbids other fields', async () => {
      const { tools } = await ann.client.listTools()
      expect(tools.map(({ name }) => name)).toEqual([
        ...['find_assets', 'get_asset', 'create_upload_link', 'create_asset'],
        ...['price_video', 'create_video', 'wait_for_video', 'get_video', 'list_videos'],
      ])
      for (const { inputSchema, description, annotations } of tools) {
        expect([inputSchema.type, inputSchema.additionalProperties]).toEqual(['object', false])
        expect(description?.length).toBeGreaterThan(20)
        expect(annotations?.destructiveHint).toBe(false)
      }
      expect(tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name)).toEqual([
        ...['find_assets', 'get_asset', 'wait_for_video', 'get_video', 'list_videos'],
      ])
    })

    test('finds what others lend when it is asked for', async () => {
      const own = await newAsset(fixture.ann, await newGroup(fixture.ann, `own ${era}`))
      const group = await newGroup(fixture.bob, `lent ${era}`)
      const asset = await newAsset(fixture.bob, group)
      await newAsset(fixture.bob, await newGroup(fixture.bob, `kept ${era}`))
      const lent = await fixture.bob.ask('POST', `/assets/groups/${group}/shares`, { User: fixture.ann.id })
      expect(lent.status).toBe(200)
      const found = async (input: object) =>
        (await ann.call('find_assets', input)).assets.map(({ asset_id }: { asset_id: string }) => asset_id)
      expect(await found({})).toEqual([own])
      expect(await found({ scope: 'shared' })).toEqual([asset])
      expect((await found({ scope: 'all' })).toSorted()).toEqual([own, asset].toSorted())
      expect(await ann.call('get_asset', { asset_id: asset })).toMatchObject({ isError: false, group_id: group })
      await fixture.bob.ask('DELETE', `/assets/groups/${group}/shares/${lent.json.Result.Id}`)
      await fixture.ann.ask('DELETE', `/assets/${own}`)
    })

    test('goes from a local picture to a kept video', async () => {
      const { upload_link, method, command } = await ann.call('create_upload_link')
      expect(command).toBe(`curl -sS -T FILE '${upload_link}'`)
      const sent = await fetch(upload_link, { method, body: png })
      const { upload } = (await sent.json()) as { upload: { url: string } }
      const asset = await ann.call('create_asset', { url: upload.url, name: 'a picture' })
      expect(asset).toMatchObject({ isError: false, name: 'a picture', type: 'Image', status: 'Active' })
      expect((await ann.call('find_assets', { name: 'PICTURE' })).assets).toEqual([
        expect.objectContaining({ asset_id: asset.asset_id, address: asset.address, group_id: asset.group_id }),
      ])
      expect(await ann.call('get_asset', { asset_id: asset.asset_id })).toMatchObject({ address: asset.address })

      const video = {
        model: MODEL,
        prompt: 'she waves',
        reference_images: [asset.address],
        duration: 4,
        resolution: '480p',
      }
      const price = await ann.call('price_video', video)
      expect(price).toMatchObject({ isError: false, usage: { seconds: 4 }, violations: [] })
      expect(price.references).toEqual([{ param: 'content[1].image_url', kind: 'asset', id: asset.asset_id }])
      expect(price.cost).toBe(price.usage.completion_tokens / 10_000)
      expect(fixture.emulator.video.tasks()).toHaveLength(0)

      const created = await ann.call('create_video', video)
      expect(created).toMatchObject({ isError: false, status: 'queued', cost: price.cost })
      const ended = await ann.call('wait_for_video', { video_id: created.video_id })
      expect(ended).toMatchObject({ isError: false, video_id: created.video_id, status: 'succeeded', model: MODEL })
      expect(ended.usage.completion_tokens).toBe(price.usage.completion_tokens)
      expect(ended.video_url).toStartWith(`${fixture.gateway.url}/api/files/`)
      const file = await (await fetch(ended.video_url)).bytes()
      expect(new TextDecoder().decode(file.subarray(4, 8))).toBe('ftyp')
      expect(await ann.call('get_video', { video_id: created.video_id })).toEqual(ended)
      const { videos, total } = await ann.call('list_videos', { status: 'succeeded', limit: 1 })
      expect([videos, total]).toEqual([[expect.objectContaining({ video_id: created.video_id })], 1])
      const [task] = fixture.emulator.video.tasks()
      expect(task?.body).toMatchObject({
        ...{ model: MODEL, duration: 4, resolution: '480p' },
        content: [
          { type: 'text', text: 'she waves' },
          { type: 'image_url', image_url: { url: asset.address }, role: 'reference_image' },
        ],
      })
    })

    test('makes assets of refused pictures of persons, if it is asked to', async () => {
      const { tasks } = fixture.emulator.video
      // The upstream of the tests refuses an address with this name, and reads none.
      const picture = `https://files.example/real-face/${era}.png`
      const video = { model: MODEL, prompt: 'she waves', reference_images: [picture], duration: 4, resolution: '480p' }
      const refused = await ann.call('create_video', video)
      expect([refused.isError, refused.error?.code]).toEqual([
        ...[true, 'InputImageSensitiveContentDetected.PrivacyInformation'],
      ])
      const before = tasks().length
      const created = await ann.call('create_video', { ...video, auto_references: true })
      const ended = await ann.call('wait_for_video', { video_id: created.video_id, wait_seconds: 60 })
      expect([ended.status, tasks().length]).toEqual(['succeeded', before + 1])
      const body = tasks()[before]?.body as { content: { image_url?: { url: string } }[] } | undefined
      expect(body?.content[1]?.image_url?.url).toStartWith('asset://')
    })

    test('adds a small file in base64, to the same group', async () => {
      const first = await ann.call('create_asset', { data: png.toBase64(), name: 'first' })
      const second = await ann.call('create_asset', { data: png.toBase64(), wait_seconds: 0 })
      expect([first.status, first.group_id]).toEqual(['Active', second.group_id])
      const wrong = await ann.call('create_asset', { data: 'no base64!' })
      expect(wrong).toEqual({ isError: true, error: { message: 'data is not valid base64' } })
      const none = await ann.call('create_asset')
      expect(none).toEqual({ isError: true, error: { message: 'give either url or data' } })
    })

    test('is told what is wrong with an input, and nothing is called', async () => {
      const calls = fixture.emulator.calls.length
      for (const [name, input, where] of [
        ['create_video', {}, '/model'],
        ['create_video', { model: MODEL, size: 'large' }, '/size'],
        ['wait_for_video', { video_id: 7 }, '/video_id'],
        ['get_asset', { asset_id: '..' }, '/asset_id'],
        ['get_asset', { asset_id: '.' }, '/asset_id'],
        ['get_video', { video_id: '..' }, '/video_id'],
        ['find_assets', { limit: 51 }, '/limit'],
        ['find_assets', { type: 'Text' }, '/type'],
      ] as const) {
        const { isError, error } = await ann.call(name, input)
        expect([name, isError, error.message]).toEqual([name, true, expect.stringContaining(`${where}: `)])
      }
      expect(fixture.emulator.calls.length).toBe(calls)
      expect(ann.call('delete_everything')).rejects.toThrow('there is no such tool')
    })

    test('gets a refusal in the words of the API, with the advice', async () => {
      const unknown = await ann.call('create_video', {
        model: MODEL,
        first_frame: 'asset://asset-20260101000000-aaaaa',
      })
      expect(unknown).toMatchObject({ isError: true, error: { status: 403, code: 'asset_not_found' } })
      const none = await ann.call('get_video', { video_id: 'cgt-20260101000000-aaaaa' })
      expect(none).toMatchObject({ isError: true, error: { status: 404, code: 'NotFound.Task', param: 'id' } })
      expect(await ann.call('get_asset', { asset_id: '../groups' })).toMatchObject({
        ...{ isError: true, error: { status: 403, message: 'asset not found in your asset group' } },
      })
      fixture.emulator.faults.add({
        ...{ kind: 'status', api: 'video', action: 'CreateVideoTask', status: 403, times: 1 },
        body: JSON.stringify({
          error: { code: 'AccountOverdueError', message: 'overdue', type: 'Forbidden', param: '' },
        }),
      })
      const refused = await ann.call('create_video', { model: MODEL, prompt: 'a cat', duration: 4, resolution: '480p' })
      expect(refused).toMatchObject({
        isError: true,
        error: { status: 403, code: 'AccountOverdueError', message: 'overdue' },
      })
      expect(refused.advice).toMatchObject({ by: 'operator', text: expect.any(String) })
    })
  })
}
