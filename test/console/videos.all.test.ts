/** Runs with `--all`: a browser makes videos in every way. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { describeWithBrowser, login, openBrowser, visit } from './browser.ts'
import { openFixture } from './fixture.ts'
import { type MediaFixture, openMediaFixture } from './media-fixture.ts'

const model = 'doubao-seedance-2-5-260628'

/** Logs in and opens the form of a new video. */
const openForm = async (page: Page, { url }: { readonly url: string }) => {
  await login(page)
  await page.goto(`${url}/console#/videos/new`)
  await page.getByLabel('Model').fill(model)
}

const submit = (page: Page) => page.getByRole('button', { name: 'Make the video' })

const make = async (page: Page, fixture: MediaFixture, prompt: string) => {
  await page.goto(`${fixture.url}/console#/videos/new`)
  await page.getByLabel('Model').fill(model)
  await page.getByLabel('Prompt').fill(prompt)
  await submit(page).click()
  await page.getByRole('heading', { level: 1, name: prompt }).waitFor()
}

/** The upstream's only task. */
const onlyTask = ({ emulator }: MediaFixture) => {
  const [task, ...others] = emulator.video.tasks()
  expect(others).toEqual([])
  if (!task) throw new Error('there is no task')
  return task
}

setDefaultTimeout(300_000)

describeWithBrowser('a video', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('says beforehand what it uses, what the model would refuse, and why it cannot be made', async () => {
    await using fixture = await openMediaFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await openForm(page, fixture)
    await page.getByLabel('Prompt').fill('A cat')
    await page.getByText('Uses at most').waitFor()
    await page.getByLabel('Prompt').fill('A cat --dur 5 --rs 720p --rt 16:9')
    await page.getByText('Uses 108,000 tokens.').waitFor()
    await page.locator('.video-form summary').last().click()
    await page.getByLabel('as JSON').fill('{"seed": 7}')
    await page.getByText('The model will probably refuse it: seed is not a field of this model.').waitFor()
    await page.getByLabel('as JSON').fill('{"priority": 77}')
    await page.getByText('It cannot be made like this: priority must be an integer from 0 to 9.').waitFor()
    expect(fixture.emulator.video.tasks()).toEqual([])
  })

  for (const live of [true, false]) {
    test(`is made of a first and a last frame, watched by ${live ? 'events' : 'polling'}, and played`, async () => {
      await using fixture = await openMediaFixture({ live, emulator: { processingMs: Number.POSITIVE_INFINITY } })
      const group = await fixture.addGroup('holidays')
      for (const name of ['beach', 'mountain']) fixture.emulator.library.addAsset({ groupId: group, name })
      fixture.emulator.library.addAsset({ groupId: group, name: 'clip', type: 'Video' })
      fixture.emulator.library.addAsset({ groupId: group, name: 'slow', status: 'Processing' })
      await using visiting = await visit(browser, fixture)
      const { page } = visiting
      let polls = 0
      page.on('request', (request) => {
        if (request.url().includes('filter.task_ids')) polls++
      })
      await openForm(page, fixture)
      await page.getByLabel('Prompt').fill('From the beach to the mountain')
      await page.getByLabel('A first frame').check()
      const pick = async (frame: string, name: string) => {
        await page.getByRole('button', { name: `Choose: ${frame}` }).click()
        await page.getByRole('radio', { name }).check()
        // Only active pictures can be a frame.
        expect(await page.getByRole('dialog').getByRole('radio').count()).toBe(2)
        await page.getByRole('button', { name: 'Use', exact: true }).click()
      }
      await pick('First frame', 'beach')
      await pick('Last frame', 'mountain')
      const sent = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/tasks'))
      await submit(page).click()
      const content = (await sent).postDataJSON().content
      expect(content.map(({ role }: { role?: string }) => role)).toEqual([undefined, 'first_frame', 'last_frame'])
      await page.getByText('The model is making the video.').waitFor()
      const task = onlyTask(fixture)
      expect(task.request.prompt).toBe('From the beach to the mountain')
      expect(task.request.mode).toBe('frames')
      fixture.emulator.video.finish(task.id)
      const player = page.locator('video.player')
      await player.waitFor()
      await page.getByRole('status').getByText('A video is ready').waitFor()
      expect(polls > 0).toBe(!live)
      const played = await page.evaluate<number>(`(async () => {
        const player = document.querySelector('video.player')
        player.muted = true
        await player.play()
        player.currentTime = player.duration - 0.1
        await new Promise((resolve) => player.addEventListener('ended', resolve))
        return player.currentTime
      })()`)
      expect(played).toBeGreaterThan(1)
      expect(visiting.errors).toEqual([])
    })
  }

  test('is made of references of all types, each with its role', async () => {
    await using fixture = await openMediaFixture()
    const group = await fixture.addGroup('holidays')
    for (const type of ['Image', 'Video', 'Audio'] as const)
      fixture.emulator.library.addAsset({ groupId: group, name: `my ${type}`, type })
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await openForm(page, fixture)
    await page.getByLabel('Prompt').fill('All of them')
    await page.getByLabel('References').check()
    await page.getByRole('button', { name: 'Add references' }).click()
    for (const type of ['Image', 'Video', 'Audio']) await page.getByRole('checkbox', { name: `my ${type}` }).check()
    await page.getByRole('button', { name: 'Use 3 assets' }).click()
    await page.getByText('name them by their numbers: Image 1, Video 1, Audio 1.').waitFor()
    await page.getByRole('button', { name: 'Remove my Video' }).click()
    expect(await page.locator('.inputs strong').allTextContents()).toEqual(['Image 1', 'Audio 1'])
    await page.getByRole('checkbox', { name: 'Make assets of refused pictures of persons' }).check()
    const sent = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/tasks'))
    await submit(page).click()
    const { content, references } = (await sent).postDataJSON() as { content: { role?: string }[]; references?: string }
    expect(references).toBe('auto')
    expect(content.map(({ role }) => role)).toEqual([undefined, 'reference_image', 'reference_audio'])
    await page.getByText('The model is making the video.').waitFor()
    expect(onlyTask(fixture).request.mode).toBe('references')
  })

  test('that is made before the list has loaded stays, and is watched', async () => {
    await using fixture = await openMediaFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    const release = Promise.withResolvers<void>()
    await page.route(/page_num=1/, async (route) => {
      const response = await route.fetch()
      await release.promise
      await route.fulfill({ response })
    })
    await login(page)
    await make(page, fixture, 'a cat')
    await page.getByText('The model is making the video.').waitFor()
    const listed = page.waitForResponse(/page_num=1/)
    release.resolve()
    await (await listed).finished()
    await page.evaluate('new Promise((done) => setTimeout(() => requestAnimationFrame(() => setTimeout(done)), 100))')
    expect(await page.getByText('The model is making the video.').isVisible()).toBe(true)
    fixture.emulator.video.finish(onlyTask(fixture).id)
    await page.locator('video.player').waitFor()
  })

  test('has no suggested model in a field in which the user is', async () => {
    await using fixture = await openMediaFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    const focused = Promise.withResolvers<void>()
    await page.route('**/contents/generations/tasks?*', async (route) => {
      await focused.promise
      await route.continue()
    })
    await page.goto(`${fixture.url}/console#/videos/new`)
    const field = page.getByLabel('Model')
    await field.focus()
    const listed = page.waitForResponse('**/contents/generations/tasks?*')
    focused.resolve()
    await (await listed).finished()
    await page.getByLabel('Prompt').waitFor()
    const frames = 5
    for (let nth = 0; nth < frames; nth++) await page.evaluate('new Promise(requestAnimationFrame)')
    await page.keyboard.type('own')
    expect(await field.inputValue()).toBe('own')
  })

  test('waits in the queue with its place, is cancelled and deleted', async () => {
    await using fixture = await openMediaFixture({ video: { slots: { '*': { running: 1 } } } })
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await make(page, fixture, 'the first one')
    await page.getByText('The model is making the video.').waitFor()
    // A running task can be neither cancelled nor deleted.
    expect(await page.getByRole('button', { name: /^(?:Cancel|Delete)$/ }).count()).toBe(0)
    await make(page, fixture, 'the second one')
    await page.getByText('Number 1 in the queue').waitFor()
    await page.getByRole('link', { name: 'Videos' }).last().click()
    const rows = page.locator('.rows li')
    await rows.first().getByText('Number 1 in the queue').waitFor()
    expect(await rows.locator('.badge').allTextContents()).toEqual(['Queued', 'Running'])
    await page.getByRole('link', { name: 'the second one' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Cancel the video' }).click()
    await page.getByText('The video was cancelled before it started.').waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete the video' }).click()
    await page.getByRole('link', { name: 'the first one' }).waitFor()
    expect(await rows.count()).toBe(1)
    expect(fixture.emulator.video.tasks().length).toBe(1)
    expect(visiting.errors).toEqual([])
  })

  test('is made once by a double click, and by another try after a lost response', async () => {
    await using fixture = await openMediaFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await openForm(page, fixture)
    await page.getByLabel('Prompt').fill('only once')
    // The server makes the video, and its response is lost.
    const clicked = Promise.withResolvers<void>()
    await page.route('**/contents/generations/tasks', async (route) => {
      await route.fetch()
      await clicked.promise
      await route.abort()
    })
    await submit(page).dblclick()
    clicked.resolve()
    await page.getByRole('alert').getByText('The server cannot be reached.').waitFor()
    await page.unroute('**/contents/generations/tasks')
    await submit(page).dblclick()
    await page.getByText('The model is making the video.').waitFor()
    expect(onlyTask(fixture).request.prompt).toBe('only once')
    // The same form again is another video, because its first one was made.
    await page.goBack()
    await submit(page).click()
    await page.getByText('The model is making the video.').waitFor()
    expect(fixture.emulator.video.tasks().length).toBe(2)
  })

  test('that fails has the reason in words, and markup in it and in the prompt is text', async () => {
    await using fixture = await openMediaFixture()
    await using visiting = await visit(browser, fixture)
    const { page, errors } = visiting
    await login(page)
    const markup = '<img src=x onerror=alert(1)>'
    await make(page, fixture, markup)
    await page.getByText('The model is making the video.').waitFor()
    const error = { code: 'OutputVideoSensitiveContentDetected', message: `The output ${markup} is not allowed.` }
    fixture.emulator.video.finish(onlyTask(fixture).id, { status: 'failed', ...error })
    await page.getByRole('alert').getByText(error.message).waitFor()
    await page.getByRole('link', { name: 'Videos' }).last().click()
    await page.locator('.rows').getByText('did not pass moderation').waitFor()
    expect(errors).toEqual([])
  })

  test('that the server rejects has its words, and the form keeps what was entered', async () => {
    await using fixture = await openMediaFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await openForm(page, fixture)
    await page.getByLabel('Prompt').fill('reject with InputTextSensitiveContentDetected')
    await submit(page).click()
    await page.getByRole('alert').getByText('may contain sensitive information').waitFor()
    await page.getByText('More fields').click()
    await page.getByLabel('Further fields').fill('{"tools":')
    await submit(page).click()
    await page.getByRole('alert').getByText('must be a JSON object').waitFor()
    await page.getByLabel('Further fields').fill('{"tools":[{"type":"web_search"}]}')
    await page.getByLabel('Prompt').fill('a cat')
    await submit(page).click()
    await page.getByText('The model is making the video.').waitFor()
    expect(onlyTask(fixture).request.tools).toEqual(['web_search'])
  })

  test('becomes an asset, as does its last frame, and both go into the next video', async () => {
    const emulator = { video: { resultsUrl: 'https://results.example' } }
    await using fixture = await openMediaFixture({ emulator })
    const group = await fixture.addGroup('holidays')
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await make(page, fixture, 'a cat')
    await page.getByText('The model is making the video.').waitFor()
    fixture.emulator.video.finish(onlyTask(fixture).id)
    for (const name of ['Save the video as an asset', 'Save the last frame as an asset']) {
      await page.getByRole('button', { name }).click()
      await page.getByRole('option', { name: 'holidays' }).waitFor({ state: 'attached' })
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    expect(fixture.emulator.library.assets(group).map(({ type, url }) => [type, new URL(url).origin])).toEqual([
      ['Video', 'https://results.example'],
      ['Image', 'https://results.example'],
    ])
    await page.getByRole('button', { name: 'Continue from the last frame' }).click()
    await page.getByRole('button', { name: 'Remove First frame' }).waitFor()
    expect(await page.getByLabel('Model').inputValue()).toBe(model)
    await page.goBack()
    await page.getByRole('button', { name: 'Use as a reference' }).click()
    await page.locator('.inputs').getByText('Video').waitFor()
    await page.getByLabel('Prompt').fill('a dog')
    await submit(page).click()
    await page.getByText('The model is making the video.').waitFor()
    const [, next] = fixture.emulator.video.tasks()
    expect(next?.request.mode).toBe('references')
  })

  test('has a model that worked before, keeps the own prompt, and is made again with changes', async () => {
    await using fixture = await openMediaFixture()
    await using visiting = await visit(browser, fixture)
    const { page, errors } = visiting
    await login(page)
    await page.goto(`${fixture.url}/console#/videos/new`)
    const field = page.getByLabel('Model')
    await page.getByText('You have not tried this model yet.').waitFor()
    expect(await field.inputValue()).toBe('doubao-seedance-2-0-260128')
    await make(page, fixture, 'a cat in the rain')
    fixture.emulator.video.finish(onlyTask(fixture).id)
    await page.locator('video.player').waitFor()
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'a cat in the rain' }).waitFor()
    await page.getByText('Your prompt').waitFor()
    await page.goto(`${fixture.url}/console#/videos`)
    await page.locator('.video-row .thumbnail :is(img, video)').waitFor({ state: 'attached' })
    await page.getByRole('link', { name: 'New video' }).click()
    await page.getByText(/^It made a video on/).waitFor()
    expect(await field.inputValue()).toBe(model)
    await page.goBack()
    await page.getByRole('link', { name: 'a cat in the rain' }).click()
    await page.getByRole('button', { name: 'Again with changes' }).click()
    expect(await page.getByLabel('Prompt').inputValue()).toBe('a cat in the rain')
    await page.getByLabel('Prompt').fill('a cat in the snow')
    await submit(page).click()
    await page.getByRole('heading', { level: 1, name: 'a cat in the snow' }).waitFor()
    expect(fixture.emulator.video.tasks().map(({ request }) => request.prompt)).toEqual(
      expect.arrayContaining(['a cat in the rain', 'a cat in the snow']),
    )
    expect(await page.getByText('Online').count()).toBe(0)
    expect(errors).toEqual([])
  })

  test('that failed has the next step: again without sound', async () => {
    await using fixture = await openMediaFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await make(page, fixture, 'a song')
    await page.getByText('The model is making the video.').waitFor()
    const error = { code: 'OutputAudioSensitiveContentDetected', message: 'The request failed.' }
    fixture.emulator.video.finish(onlyTask(fixture).id, { status: 'failed', ...error })
    const alert = page.getByRole('alert')
    await alert.getByText('The generated sound did not pass moderation').waitFor()
    await alert.getByText(error.code).waitFor()
    await alert.getByRole('button', { name: 'Again without sound' }).click()
    expect(await page.getByLabel('With sound').isChecked()).toBe(false)
    expect(await page.getByLabel('Prompt').inputValue()).toBe('a song')
  })

  test('whose link has expired is no broken player', async () => {
    await using fixture = await openMediaFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await make(page, fixture, 'a cat')
    await page.getByText('The model is making the video.').waitFor()
    await page.route(`${fixture.mediaOrigin}/**`, (route) => route.fulfill({ status: 403 }))
    fixture.emulator.video.finish(onlyTask(fixture).id)
    await page.getByText('The video cannot be played.').waitFor()
    await page.unroute(`${fixture.mediaOrigin}/**`)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.locator('video.player').waitFor()
  })

  test('is not offered by a server without an upstream for it, and the page says so', async () => {
    await using fixture = await openFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await page.getByRole('link', { name: 'Videos' }).click()
    await page.getByText('This server does not generate videos.').waitFor()
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0)
    expect(visiting.errors).toEqual([])
  })
})
