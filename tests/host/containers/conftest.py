from container_fixtures import *  # noqa: F403
