# Builds the image of an environment that computes on the CPU: a base with the lock's Python, and exactly the packages of
# the lock.
# The image does not contain bench/, which is mounted read-only, so that a change there does not rebuild the image.
#
# `nox -s images -- build` passes the arguments. To build by hand, from the project's folder, with any builder:
#
#   docker build -f docker/cpu.Dockerfile --build-arg LOCK=locks/jax.txt --build-arg EXTRAS=docker/extras .
ARG BASE=python:3.11-slim-bookworm@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b

FROM ${BASE} AS system
ARG PART=by-hand
LABEL benchmatrix.part=${PART}
# Packages that compiled modes need and the base lacks: "g++ python3-dev".
ARG SYSTEM_PACKAGES=""
RUN if [ -n "${SYSTEM_PACKAGES}" ]; then \
      apt-get update -qq \
      && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ${SYSTEM_PACKAGES} \
      && rm -rf /var/lib/apt/lists/*; \
    fi

# Files that only the installation needs stay in this stage.
FROM system AS installed
ARG PYTHON=3.11
RUN python${PYTHON} -m venv --without-pip /opt/environment
# A folder that may have wheels/ (used with an index or without one) and ca.crt (a company's certificate authorities).
ARG EXTRAS=extras
COPY ${EXTRAS} /build
ARG LOCK=lock.txt
COPY ${LOCK} /build/lock.txt
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
ARG PIP_NO_INDEX
# pip runs from the wheel that Python ships for its own venvs, so that the environment gets only the packages of the lock.
# Some packages contain sources for other versions of Python, which do not compile; these errors are ignored.
RUN if [ -s /build/ca.crt ]; then export PIP_CERT=/build/ca.crt; fi \
    && mkdir -p /build/wheels \
    && pip=$(find /usr/share/python-wheels /usr/lib /usr/local/lib -name 'pip-*.whl' 2>/dev/null | head -n 1) \
    && PYTHONPATH=${pip} /opt/environment/bin/python -m pip install --quiet --disable-pip-version-check --no-input \
      --no-cache-dir --no-compile --no-deps --require-hashes --only-binary :all: --find-links /build/wheels -r /build/lock.txt \
    && (/opt/environment/bin/python -m compileall -qq -j 0 /opt/environment/lib || true)

FROM system
COPY --from=installed /opt/environment /opt/environment
ENV PATH=/opt/environment/bin:${PATH} HOME=/tmp
ARG IMAGE=by-hand
ARG ENVIRONMENT=by-hand
LABEL benchmatrix.part="" benchmatrix.image=${IMAGE} benchmatrix.environment=${ENVIRONMENT}
USER 65534:65534
CMD ["python"]
