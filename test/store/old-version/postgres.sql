create table sluice_migrations (id integer primary key, applied_at bigint not null);
create table users (
  id text primary key,
  name text not null unique,
  password text,
  created_at bigint not null,
  disabled_at bigint
);
create table tokens (
  id text primary key,
  user_id text not null references users (id),
  hash text not null unique,
  start text not null,
  label text,
  created_at bigint not null,
  expires_at bigint,
  revoked_at bigint
);
create index tokens_of_user on tokens (user_id);
create table groups (
  id text primary key,
  group_id text,
  user_id text not null,
  type text not null,
  name text not null,
  description text,
  renames text,
  state text not null check (state in ('pending', 'unresolved', 'owned')),
  created_at bigint not null,
  due_at bigint,
  check (state <> 'owned' or group_id is not null),
  check (state = 'owned' or due_at is not null)
);
create unique index one_group_a_name on groups (user_id, type, name) where state <> 'unresolved';
create unique index one_owner_a_group on groups (group_id) where state = 'owned';
create index claims_by_due on groups (due_at) where state <> 'owned';
create table assets (id text primary key, group_id text not null);
create index assets_of_group on assets (group_id);
create table revision (id integer primary key check (id = 1), value bigint not null);
insert into revision (id, value) values (1, 1);
create table secrets (name text primary key, value text not null);
create table upstream_places (
  action text not null,
  place integer not null,
  free_at bigint not null,
  lease_until bigint not null,
  taken_by text,
  primary key (action, place)
);
create table upstream_turns (
  action text not null,
  user_id text not null,
  served_at bigint not null,
  waits_until bigint not null,
  primary key (action, user_id)
);
alter table groups add column dated integer not null default 0;
create table text_usage (
  user_id text not null,
  token_id text not null,
  day text not null,
  model text not null,
  calls bigint not null,
  unreported bigint not null,
  input_tokens bigint not null,
  cached_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  primary key (user_id, token_id, day, model)
);
create index text_usage_by_day on text_usage (day);
create table sessions (
  hash text primary key,
  user_id text not null references users (id),
  password_hash text not null,
  created_at bigint not null,
  idle_until bigint not null,
  ends_at bigint not null
);
create index sessions_of_user on sessions (user_id);
create index sessions_by_end on sessions (idle_until);
create table login_attempts (
  key text primary key,
  failures bigint not null,
  blocked_until bigint not null,
  forget_at bigint not null,
  counted_by text not null
);
create index login_attempts_by_end on login_attempts (forget_at);
create table face_verifications (
  id text primary key,
  user_id text not null,
  kind text not null,
  status text not null,
  state_hash text unique,
  token text,
  group_id text,
  created_at bigint not null,
  expires_at bigint not null,
  due_at bigint,
  lease_until bigint not null,
  asks bigint not null
);
create index face_verifications_by_due on face_verifications (kind, due_at) where due_at is not null;
create index face_verifications_by_age on face_verifications (created_at);
create table text_objects (
  kind text not null check (kind in ('response', 'conversation', 'item')),
  id text not null,
  user_id text not null,
  token_id text,
  upstream text not null,
  model text not null,
  created_at bigint not null,
  expires_at bigint not null,
  due_at bigint,
  primary key (kind, id)
);
create index text_objects_by_end on text_objects (expires_at);
create index text_objects_by_due on text_objects (due_at) where due_at is not null;
alter table groups add column ended_at bigint;
create table changes (
  revision bigint not null,
  kind text not null,
  key text not null,
  primary key (revision, kind, key)
);
create table audit_entries (
  id text primary key,
  at bigint not null,
  action text not null,
  user_id text,
  user_name text,
  token_id text,
  kind text,
  target text,
  address text,
  status integer,
  reason text,
  times bigint not null
);
create index audit_entries_by_time on audit_entries (at, id);
create table user_turns (user_id text primary key, turn bigint not null);
create index tokens_working on tokens (user_id, expires_at) where revoked_at is null;
create index tokens_by_revocation on tokens (revoked_at) where revoked_at is not null;
create index tokens_by_expiry on tokens (expires_at) where expires_at is not null;
create index face_verifications_of_user on face_verifications (user_id, expires_at);
create index tokens_by_age on tokens (user_id, created_at);
drop index tokens_of_user;
create table text_usage_batches (id text primary key, at bigint not null);
create table stored_responses (
  id text primary key,
  user_id text not null,
  previous_id text,
  item_bytes bigint not null,
  bytes bigint not null,
  bytes_before bigint not null,
  created_at bigint not null,
  expires_at bigint not null,
  response text not null
);
create index stored_responses_of_user on stored_responses (user_id, bytes_before);
create index stored_responses_by_end on stored_responses (expires_at);
create table stored_items (
  response_id text not null references stored_responses (id) on delete cascade,
  position bigint not null,
  id text not null,
  user_id text not null,
  is_output integer not null check (is_output in (0, 1)),
  json text not null,
  created_at bigint not null,
  primary key (response_id, position)
);
create index stored_items_of_user on stored_items (user_id, id, created_at);
alter table text_usage add column cost bigint;
create table event_sequence (id integer primary key check (id = 1), value bigint not null);
insert into event_sequence (id, value) values (1, 0);
create table events (
sequence bigint primary key,
id text not null unique,
user_id text not null,
type text not null,
data text not null,
at bigint not null
    );
create index events_of_user on events (user_id, sequence);
create index events_by_time on events (at);
create table webhooks (
id text primary key,
user_id text not null,
url text not null,
types text,
secret text not null,
created_at bigint not null,
delivered_at bigint,
failing_since bigint,
failures bigint not null,
paused_until bigint not null,
last_error text,
disabled_at bigint,
due_at bigint,
lease_until bigint not null,
lease_id text
    );
create index webhooks_of_user on webhooks (user_id, created_at);
create index webhooks_by_due on webhooks (due_at) where due_at is not null;
create index webhooks_leased on webhooks (lease_until) where lease_id is not null;
create table deliveries (
webhook_id text not null,
event_sequence bigint not null,
created_at bigint not null,
due_at bigint not null,
attempts bigint not null,
primary key (webhook_id, event_sequence)
    );
create index deliveries_by_age on deliveries (created_at);
create table callbacks (
id text primary key,
sequence bigint not null,
user_id text not null,
url text not null,
subject text not null,
body text not null,
created_at bigint not null,
due_at bigint not null,
lease_until bigint not null,
lease_id text,
attempts bigint not null
    );
create index callbacks_by_due on callbacks (due_at);
create index callbacks_of_subject on callbacks (subject, sequence);
create index callbacks_leased on callbacks (lease_until) where lease_id is not null;
create table delivery_turns (id integer primary key check (id = 1), turn bigint not null);
insert into delivery_turns (id, turn) values (1, 0);
create table idempotency_keys (
  user_id text not null,
  route text not null,
  key text not null,
  fingerprint text not null,
  holder text not null,
  attempt text not null,
  attempted_at bigint not null,
  lease_until bigint not null,
  expires_at bigint not null,
  status integer,
  headers text,
  body text,
  primary key (user_id, route, key)
);
create index idempotency_keys_of_user on idempotency_keys (user_id, expires_at);
create index idempotency_keys_by_end on idempotency_keys (expires_at);
create table leases (name text primary key, holder text not null, lease_until bigint not null);
create table video_tasks (
id text primary key,
user_id text not null,
token_id text,
model text not null,
service_tier text not null,
pool text,
place bigint,
phase text not null check (phase in ('waiting', 'submitting', 'submitted', 'copying', 'ended')),
status text not null,
nonce bigint,
upstream_id text,
created_at bigint not null,
expires_at bigint not null,
claimed_at bigint,
submitted_at bigint,
freed_at bigint,
ended_at bigint,
lease_until bigint not null,
due_at bigint,
attempts bigint not null,
bytes bigint not null,
fields text not null,
result text,
task text,
final_task text,
request text,
check (phase <> 'waiting' or place is not null),
check (phase <> 'submitted' or upstream_id is not null)
    );
create index video_tasks_of_user on video_tasks (user_id, id);
create index video_tasks_waiting on video_tasks (pool, user_id, place) where phase = 'waiting';
create index video_tasks_running on video_tasks (pool, user_id) where phase in ('submitting', 'submitted');
create unique index video_tasks_by_upstream_id on video_tasks (upstream_id) where upstream_id is not null;
create unique index one_nonce_a_claim on video_tasks (user_id, nonce) where phase = 'submitting';
create index video_tasks_by_due on video_tasks (phase, due_at) where due_at is not null;
create index video_tasks_by_lease on video_tasks (lease_until) where phase = 'submitting';
create index video_tasks_by_expiry on video_tasks (expires_at) where phase = 'waiting';
create index video_tasks_by_end on video_tasks (ended_at) where phase = 'ended';
create table video_pools (
pool text primary key,
turn bigint not null,
pass bigint not null,
learnt bigint,
learnt_at bigint,
paused_until bigint not null,
pause_kind text,
pauses bigint not null,
mean_ms bigint,
used_at bigint not null
    );
create table video_turns (
pool text not null references video_pools (pool) on delete cascade,
user_id text not null,
pass bigint not null,
primary key (pool, user_id)
    );
alter table text_usage add column video_seconds bigint;
alter table video_tasks add column told text;
create table files (
key text primary key,
user_id text not null,
kind text not null check (kind in ('upload', 'result')),
bytes bigint not null,
created_at bigint not null,
expires_at bigint not null
    );
create index files_of_user on files (user_id, kind, expires_at);
create index files_by_end on files (expires_at);
alter table video_turns add column stride bigint not null default 0;
create index video_pools_by_use on video_pools (used_at);
create table asset_watches (
  asset_id text primary key,
  group_id text not null,
  user_id text not null,
  created_at bigint not null,
  due_at bigint not null,
  polls bigint not null
);
create index asset_watches_by_due on asset_watches (due_at);
insert into sluice_migrations (id, applied_at) values (1, 1795703227177);
insert into sluice_migrations (id, applied_at) values (2, 1795703227177);
insert into sluice_migrations (id, applied_at) values (3, 1795703227177);
insert into sluice_migrations (id, applied_at) values (4, 1795703227177);
insert into sluice_migrations (id, applied_at) values (5, 1795703227177);
insert into sluice_migrations (id, applied_at) values (6, 1795703227177);
insert into sluice_migrations (id, applied_at) values (7, 1795703227177);
insert into sluice_migrations (id, applied_at) values (8, 1795703227177);
insert into sluice_migrations (id, applied_at) values (9, 1795703227177);
insert into sluice_migrations (id, applied_at) values (10, 1795703227177);
insert into sluice_migrations (id, applied_at) values (11, 1795703227177);
insert into sluice_migrations (id, applied_at) values (12, 1795703227177);
insert into sluice_migrations (id, applied_at) values (13, 1795703227177);
insert into sluice_migrations (id, applied_at) values (14, 1795703227177);
insert into sluice_migrations (id, applied_at) values (15, 1795703227177);
insert into sluice_migrations (id, applied_at) values (16, 1795703227177);
insert into sluice_migrations (id, applied_at) values (17, 1795703227177);
insert into sluice_migrations (id, applied_at) values (18, 1795703227177);
insert into sluice_migrations (id, applied_at) values (19, 1795703227177);
insert into sluice_migrations (id, applied_at) values (20, 1795703227177);
insert into sluice_migrations (id, applied_at) values (21, 1795703227177);
insert into sluice_migrations (id, applied_at) values (22, 1795703227177);
insert into sluice_migrations (id, applied_at) values (23, 1795703227177);
insert into users (id, name, password, created_at) values ('7bb48a83-3798-4d8c-814c-3a20912a5a3d', 'Ann', '$argon2id$v=19$m=19456,t=2,p=1$HSe7S3uGDYziB5Mfdt56zg$J9B1yiNZb1FmpuWYOl+yRpWAbklwDj9I229BzTTyPxk', 1795703228226);
insert into users (id, name, created_at) values ('b0e4c30f-eba2-4520-a13c-b324d6f27c67', 'bob', 1795703228340);
insert into users (id, name, created_at, disabled_at) values ('f2fda134-4751-446f-b948-0a181c0d110e', 'ANN', 1795703228451, 1795703233511);
insert into asset_watches (asset_id, group_id, user_id, created_at, due_at, polls) values ('asset-20261126142708-u0vvy', 'group-20261126142708-00000', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', 1795703229018, 1795703232018, 0);
insert into assets (id, group_id) values ('asset-20261126142708-u0vvy', 'group-20261126142708-00000');
insert into audit_entries (id, at, action, user_id, user_name, address, times) values ('4106800e-ea54-46f2-b716-3e483db5796d', 1795703228230, 'user.create', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', 'Ann', 'admin', 1);
insert into audit_entries (id, at, action, user_id, user_name, address, times) values ('1ab5dbb0-6d58-431d-8ea7-79fc3e8ac39f', 1795703228341, 'user.create', 'b0e4c30f-eba2-4520-a13c-b324d6f27c67', 'bob', 'admin', 1);
insert into audit_entries (id, at, action, user_id, user_name, address, times) values ('319166fe-70a0-4c2e-9110-ba5dca06e55c', 1795703228452, 'user.create', 'f2fda134-4751-446f-b948-0a181c0d110e', 'ANN', 'admin', 1);
insert into audit_entries (id, at, action, user_id, user_name, kind, target, address, times) values ('42fcf173-e873-4de2-9c54-3691a4e41cba', 1795703228534, 'token.create', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', 'Ann', 'token', '9a060c83-a71b-44f8-b670-ccd19d262e91', 'admin', 1);
insert into audit_entries (id, at, action, user_id, user_name, kind, target, address, times) values ('03fbaff7-d42b-4e2f-997c-ad3eee08839f', 1795703228676, 'token.create', 'b0e4c30f-eba2-4520-a13c-b324d6f27c67', 'bob', 'token', '049081ef-d2a8-40f5-bd2c-b183c644ec2b', 'admin', 1);
insert into audit_entries (id, at, action, user_id, user_name, kind, target, address, times) values ('a68cec46-92af-4a3e-b5ca-3814cc8cf4e6', 1795703228779, 'token.create', 'b0e4c30f-eba2-4520-a13c-b324d6f27c67', 'bob', 'token', '3e3fa529-bbeb-4524-a7d0-4bad069bbbd0', 'admin', 1);
insert into audit_entries (id, at, action, user_id, user_name, token_id, kind, target, address, times) values ('6996afa0-035d-4fa6-bda3-f5be57bbee6b', 1795703228909, 'group.create', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', 'Ann', '9a060c83-a71b-44f8-b670-ccd19d262e91', 'group', 'group-20261126142708-00000', '127.0.0.1', 1);
insert into audit_entries (id, at, action, user_id, user_name, token_id, kind, target, address, times) values ('d4623b2f-bf13-4099-9430-5754b07ec94a', 1795703228921, 'group.create', 'b0e4c30f-eba2-4520-a13c-b324d6f27c67', 'bob', '049081ef-d2a8-40f5-bd2c-b183c644ec2b', 'group', 'group-20261126142708-f0fxz', '127.0.0.1', 1);
insert into audit_entries (id, at, action, user_id, user_name, token_id, kind, target, address, times) values ('6f22a770-148b-40dc-bafc-9cd1f21142c4', 1795703228967, 'asset.create', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', 'Ann', '9a060c83-a71b-44f8-b670-ccd19d262e91', 'asset', 'asset-20261126142708-u0vvy', '127.0.0.1', 1);
insert into audit_entries (id, at, action, user_id, user_name, address, times) values ('f6f1ab44-1d57-4171-8071-79810e9d0963', 1795703229230, 'session.login', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', 'Ann', '127.0.0.1', 1);
insert into audit_entries (id, at, action, user_id, user_name, kind, target, address, times) values ('9e9d7543-bcb9-4d8f-9cf8-b9008ada4702', 1795703229243, 'token.create', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', 'Ann', 'token', '434322e1-c57d-45f7-a6ee-e1728707e72a', '127.0.0.1', 1);
insert into audit_entries (id, at, action, user_id, user_name, kind, target, address, times) values ('a7ade7fa-e3ce-4005-90b1-765d488cf25e', 1795703229260, 'verification.create', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', 'Ann', 'verification', 'verification-20261126142709-d65fedab4447a722', '127.0.0.1', 1);
insert into audit_entries (id, at, action, user_id, user_name, token_id, kind, target, address, times) values ('222fac78-3562-4a3b-bcc9-b719edf3dd75', 1795703229267, 'upload.create', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', 'Ann', '9a060c83-a71b-44f8-b670-ccd19d262e91', 'upload', 'up_409d151380c5ad4a33c522f8846d2c6f', '127.0.0.1', 1);
insert into audit_entries (id, at, action, user_id, user_name, address, times) values ('d582bd86-b135-4316-af3c-497e855b5886', 1795703233517, 'user.disable', 'f2fda134-4751-446f-b948-0a181c0d110e', 'ANN', 'admin', 1);
insert into audit_entries (id, at, action, user_id, user_name, kind, target, address, times) values ('4cc472d0-b4ca-48d9-ac51-2fb3dc531dc6', 1795703233726, 'token.revoke', 'b0e4c30f-eba2-4520-a13c-b324d6f27c67', 'bob', 'token', '3e3fa529-bbeb-4524-a7d0-4bad069bbbd0', 'admin', 1);
insert into changes (revision, kind, key) values (2, 'token', '2e021c1e89f7b35572a4eac5b32b704167cc7a9a14b0ec89ed57e559e72b8d70');
insert into changes (revision, kind, key) values (3, 'token', 'ef9ad4d6fe98c522968766c37e56dc8cc3e1bcf51ab3e0baa5de6baee22e4404');
insert into changes (revision, kind, key) values (4, 'token', 'f4dbd15a776541de5083decd1e284ae4749e967ac108d609e6c942011231dc7d');
insert into changes (revision, kind, key) values (5, 'groups', '7bb48a83-3798-4d8c-814c-3a20912a5a3d');
insert into changes (revision, kind, key) values (6, 'groups', 'b0e4c30f-eba2-4520-a13c-b324d6f27c67');
insert into changes (revision, kind, key) values (7, 'token', '77471e0e2ad6ff73c21e3ec9bc0c1d11e840b9c58e0373d9fc3fe007d4966dd5');
insert into changes (revision, kind, key) values (8, 'user', 'ANN');
insert into changes (revision, kind, key) values (9, 'token', 'f4dbd15a776541de5083decd1e284ae4749e967ac108d609e6c942011231dc7d');
delete from delivery_turns;
insert into delivery_turns (id, turn) values (1, 0);
delete from event_sequence;
insert into event_sequence (id, value) values (1, 6);
insert into events (sequence, id, user_id, type, data, at) values (1, 'evt_4c4007604f9e43b38f7bf289d8832f6c', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', 'asset.processing', '{"Id":"asset-20261126142708-u0vvy","GroupId":"group-20261126142708-00000","Status":"Processing"}', 1795703229018);
insert into events (sequence, id, user_id, type, data, at) values (2, 'evt_0c585cd5fe654a0999841fde5da4313c', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', 'face_verification.waiting_user', '{"verification_id":"verification-20261126142709-d65fedab4447a722","status":"waiting_user"}', 1795703229247);
insert into events (sequence, id, user_id, type, data, at) values (3, 'evt_a92ec3883f494ee1a49a37782a74d0c8', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', 'video.queued', '{"id":"cgt-20261126142709-8etg26yahcpteade32c7","model":"doubao-seedance-2-0-260128","status":"queued","error":null,"created_at":1795703229,"updated_at":1795703229,"service_tier":"default","execution_expires_after":172800}', 1795703229283);
insert into events (sequence, id, user_id, type, data, at) values (4, 'evt_05c5686c18594bf19ba33d7ba0fdb1e9', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', 'video.running', '{"id":"cgt-20261126142709-8etg26yahcpteade32c7","model":"doubao-seedance-2-0-260128","status":"running","error":null,"created_at":1795703229,"updated_at":1795703229,"service_tier":"default","execution_expires_after":172800}', 1795703232928);
insert into events (sequence, id, user_id, type, data, at) values (5, 'evt_d9bbe453bc0d49d48b9200f367b005c9', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', 'video.succeeded', '{"id":"cgt-20261126142709-8etg26yahcpteade32c7","model":"doubao-seedance-2-0-260128","status":"succeeded","created_at":1795703229,"updated_at":1795703231,"content":{"video_url":"http://127.0.0.1:41971/api/files/results/cgt-20261126142709-8etg26yahcpteade32c7-d7d34ce7.mp4?expires=1798295233&signature=93haIKnQRSvPhXHwXcJr3oKlV7yZzznwikHCvg0qrFk"},"seed":11,"resolution":"720p","ratio":"16:9","duration":5,"framespersecond":24,"revised_prompt":"a cat Smooth camera movement, natural light.","usage":{"completion_tokens":108000,"total_tokens":108000},"service_tier":"default","execution_expires_after":172800,"generate_audio":true,"priority":0,"error":null}', 1795703232943);
insert into events (sequence, id, user_id, type, data, at) values (6, 'evt_e13b42f867094d229fda77f7c44d7421', 'b0e4c30f-eba2-4520-a13c-b324d6f27c67', 'video.queued', '{"id":"cgt-20261126142713-dk4xrkpnj2g75sz04nf0","model":"doubao-seedance-2-0-260128","status":"queued","error":null,"created_at":1795703233,"updated_at":1795703233,"service_tier":"default","execution_expires_after":172800}', 1795703233443);
insert into face_verifications (id, user_id, kind, status, created_at, expires_at, due_at, lease_until, asks) values ('verification-20261126142709-d65fedab4447a722', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', 'rest', 'waiting_user', 1795703229247, 1795705029000, 1795703244247, 0, 0);
insert into files (key, user_id, kind, bytes, created_at, expires_at) values ('uploads/up_409d151380c5ad4a33c522f8846d2c6f.png', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', 'upload', 8, 1795703229262, 1795789629266);
insert into files (key, user_id, kind, bytes, created_at, expires_at) values ('results/cgt-20261126142709-8etg26yahcpteade32c7-d7d34ce7.mp4', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', 'result', 3139, 1795703232938, 1798295232936);
insert into groups (id, group_id, user_id, type, name, description, state, created_at, due_at, dated) values ('3e8eac9d-1d9b-401e-a994-a9c9c8b93edc', 'group-20261126142708-00000', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', 'AIGC', 'faces', 'of Ann', 'owned', 1795703228904, 1795703288895, 0);
insert into groups (id, group_id, user_id, type, name, state, created_at, due_at, dated) values ('91d5f7f2-7fa2-4d9d-9f9f-f38f17691e7e', 'group-20261126142708-f0fxz', 'b0e4c30f-eba2-4520-a13c-b324d6f27c67', 'AIGC', 'faces', 'owned', 1795703228919, 1795703288915, 0);
insert into idempotency_keys (user_id, route, key, fingerprint, holder, attempt, attempted_at, lease_until, expires_at, status, headers, body) values ('7bb48a83-3798-4d8c-814c-3a20912a5a3d', 'createVideoTask', 'first', '7fb01b4f87ddeb7bafe18562ef48e58ae82b696461aeb48e524637937ca609f1', 'd47b78cf-0b2d-4da9-89db-1232e32e62ba', 'd47b78cf-0b2d-4da9-89db-1232e32e62ba', 1795703229270, 1795703289270, 1795789629294, 200, '{"content-type":"application/json"}', 'eyJpZCI6ImNndC0yMDI2MTEyNjE0MjcwOS04ZXRnMjZ5YWhjcHRlYWRlMzJjNyJ9');
delete from revision;
insert into revision (id, value) values (1, 9);
insert into secrets (name, value) values ('session', 'TT15BO55wBxgC-j6sTzrLw_TgOXOm70HgcuG_qLdT84');
insert into secrets (name, value) values ('video', 'jRG7FLQw53Z85hBrE6bCK-ltE4d8qN62lvBcu9_1574');
insert into sessions (hash, user_id, password_hash, created_at, idle_until, ends_at) values ('3e090986d696def9795aa38cb8b9ec02b29a9386d1a71c37000201d1e605cc8c', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', '317c5c9b75fcf1b78ce3cd56b7357922dee156a8c3a3fedd0dadcb15a3ad18c6', 1795703229227, 1795705029227, 1795746429227);
insert into text_objects (kind, id, user_id, token_id, upstream, model, created_at, expires_at) values ('item', 'msg_1a7c234525f7c6a1cda5ed3b', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', '9a060c83-a71b-44f8-b670-ccd19d262e91', 'http://127.0.0.1:34109/v1', 'doubao-seed-emulated', 1795703229160, 1798295229160);
insert into text_objects (kind, id, user_id, token_id, upstream, model, created_at, expires_at) values ('response', 'resp_37cde960a6fffd70273b6ab8', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', '9a060c83-a71b-44f8-b670-ccd19d262e91', 'http://127.0.0.1:34109/v1', 'doubao-seed-emulated', 1795703229160, 1798295229160);
insert into text_usage (user_id, token_id, day, model, calls, unreported, input_tokens, cached_tokens, output_tokens, reasoning_tokens) values ('7bb48a83-3798-4d8c-814c-3a20912a5a3d', '9a060c83-a71b-44f8-b670-ccd19d262e91', '2026-11-26', 'doubao-seed-emulated', 4, 0, 32, 0, 244, 0);
insert into text_usage (user_id, token_id, day, model, calls, unreported, input_tokens, cached_tokens, output_tokens, reasoning_tokens) values ('b0e4c30f-eba2-4520-a13c-b324d6f27c67', '049081ef-d2a8-40f5-bd2c-b183c644ec2b', '2026-11-26', 'doubao-seed-emulated', 1, 0, 8, 0, 61, 0);
insert into text_usage (user_id, token_id, day, model, calls, unreported, input_tokens, cached_tokens, output_tokens, reasoning_tokens, video_seconds) values ('7bb48a83-3798-4d8c-814c-3a20912a5a3d', '9a060c83-a71b-44f8-b670-ccd19d262e91', '2026-11-26', 'doubao-seedance-2-0-260128', 1, 0, 0, 0, 108000, 0, 5);
insert into text_usage_batches (id, at) values ('7bab7879-ce8f-4974-892b-8158edffbbde', 1795703229200);
insert into tokens (id, user_id, hash, start, label, created_at) values ('9a060c83-a71b-44f8-b670-ccd19d262e91', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', '2e021c1e89f7b35572a4eac5b32b704167cc7a9a14b0ec89ed57e559e72b8d70', 'sk-Htgd0D', 'laptop', 1795703228527);
insert into tokens (id, user_id, hash, start, created_at, expires_at) values ('049081ef-d2a8-40f5-bd2c-b183c644ec2b', 'b0e4c30f-eba2-4520-a13c-b324d6f27c67', 'ef9ad4d6fe98c522968766c37e56dc8cc3e1bcf51ab3e0baa5de6baee22e4404', 'sk-Ax46G5', 1795703228653, 4073500800000);
insert into tokens (id, user_id, hash, start, label, created_at) values ('434322e1-c57d-45f7-a6ee-e1728707e72a', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', '77471e0e2ad6ff73c21e3ec9bc0c1d11e840b9c58e0373d9fc3fe007d4966dd5', 'sk-P3ZxMJ', 'made in the console', 1795703229234);
insert into tokens (id, user_id, hash, start, label, created_at, revoked_at) values ('3e3fa529-bbeb-4524-a7d0-4bad069bbbd0', 'b0e4c30f-eba2-4520-a13c-b324d6f27c67', 'f4dbd15a776541de5083decd1e284ae4749e967ac108d609e6c942011231dc7d', 'sk-ktJdyN', 'old', 1795703228772, 1795703233723);
insert into user_turns (user_id, turn) values ('7bb48a83-3798-4d8c-814c-3a20912a5a3d', 6);
insert into user_turns (user_id, turn) values ('b0e4c30f-eba2-4520-a13c-b324d6f27c67', 3);
insert into user_turns (user_id, turn) values ('f2fda134-4751-446f-b948-0a181c0d110e', 1);
insert into video_tasks (id, user_id, token_id, model, service_tier, pool, phase, status, nonce, upstream_id, created_at, expires_at, claimed_at, submitted_at, freed_at, ended_at, lease_until, attempts, bytes, fields, result, task, told) values ('cgt-20261126142709-8etg26yahcpteade32c7', '7bb48a83-3798-4d8c-814c-3a20912a5a3d', '9a060c83-a71b-44f8-b670-ccd19d262e91', 'doubao-seedance-2-0-260128', 'default', 'doubao-seedance-2-0-260128', 'ended', 'succeeded', 171829, 'cgt-20261126142709-00000', 1795703229275, 1795876029275, 1795703229275, 1795703229283, 1795703232928, 1795703232943, 0, 1, 0, '{"own":{},"shown":{}}', '{"video":"results/cgt-20261126142709-8etg26yahcpteade32c7-d7d34ce7.mp4","expiresAt":1798295232936}', '{"id":"cgt-20261126142709-00000","model":"doubao-seedance-2-0-260128","status":"succeeded","created_at":1795703229,"updated_at":1795703231,"content":{"video_url":"http://127.0.0.1:34109/tos/ark-content-generation/doubao-seedance-2-0-260128/e82a64e7d095a7763244a416052a2c99e13f4f95.mp4?X-Tos-Algorithm=TOS4-HMAC-SHA256&X-Tos-Credential=AKLTEMULATOR%2F20261126%2Fcn-beijing%2Ftos%2Frequest&X-Tos-Date=20261126T142711Z&X-Tos-Expires=86400&X-Tos-Signature=0cb0dac63449750fd0e6b72c39efc26b2aa737315d7c156d11a6b147030967f6&X-Tos-SignedHeaders=host"},"seed":11,"resolution":"720p","ratio":"16:9","duration":5,"framespersecond":24,"revised_prompt":"a cat Smooth camera movement, natural light.","usage":{"completion_tokens":108000,"total_tokens":108000},"service_tier":"default","execution_expires_after":171829,"generate_audio":true,"priority":0,"safety_identifier":"c2bf8d573de12605eb28d1647c3a908be7d7862550230dd0ea5b1ac668436f4b","error":null}', 'succeeded');
insert into video_tasks (id, user_id, token_id, model, service_tier, pool, phase, status, nonce, upstream_id, created_at, expires_at, claimed_at, submitted_at, lease_until, due_at, attempts, bytes, fields, told) values ('cgt-20261126142713-dk4xrkpnj2g75sz04nf0', 'b0e4c30f-eba2-4520-a13c-b324d6f27c67', '049081ef-d2a8-40f5-bd2c-b183c644ec2b', 'doubao-seedance-2-0-260128', 'default', 'doubao-seedance-2-0-260128', 'submitted', 'queued', 172519, 'cgt-20261126142713-f0fxz', 1795703233435, 1795876033435, 1795703233435, 1795703233443, 1795703323435, 1795703236443, 1, 0, '{"own":{},"shown":{}}', 'queued');
